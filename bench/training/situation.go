package training

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// situation is a federation: whom its clients trust, how many they are, and the ε of all of a client's reports.
type situation struct {
	trust   plan.Trust
	clients int
	budget  float64
}

func (s situation) String() string { return fmt.Sprintf("%s:%d@%g", s.trust, s.clients, s.budget) }

// Limits of settings. With fewer clients nothing can be learnt, and there are no more pictures.
const (
	leastClients, mostClients = 50, dataset.Pictures
	leastBudget, mostBudget   = 0.1, 8
)

// defaultSettings are the settings of the README's table.
const defaultSettings = "nobody:60000@1,nobody:60000@2,nobody:60000@4,shuffler:60000@0.1,shuffler:60000@0.25,shuffler:60000@1"

// What settings have beside trusts: two servers with sites, and with clients or sites that add a part of the noise for --honest-budget.
const (
	honestClients plan.Trust = plan.TwoServers + withHonest
	twoOfSites    plan.Trust = plan.TwoServers + withSites
	honestSites   plan.Trust = twoOfSites + withHonest

	withSites, withHonest = "+sites", "+honest"
)

// trusts are the trusts that examples/mnist has. Sites share all pictures, and other clients have one each.
var trusts = append(slices.Clone(ofClients), plan.OwnSite, honestClients, twoOfSites, honestSites)

var ofClients = []plan.Trust{plan.Nobody, plan.Shuffler, plan.TwoServers}

// sites says whether the clients are sites.
func (s situation) sites() bool {
	return s.trust == plan.OwnSite || strings.Contains(string(s.trust), withSites)
}

// twoServers says whether two servers are trusted, in one of the ways.
func (s situation) twoServers() bool {
	return strings.HasPrefix(string(s.trust), string(plan.TwoServers))
}

// flags are the demo's for this federation.
func (s situation) flags() []string {
	trust, _, _ := strings.Cut(string(s.trust), "+")
	clients, budget := "--clients", "--budget"
	if s.sites() {
		clients = "--sites"
	}
	if strings.HasSuffix(string(s.trust), withHonest) {
		budget = "--honest-budget"
	}
	return []string{"--trust", trust, clients, strconv.Itoa(s.clients), budget, strconv.FormatFloat(s.budget, 'g', -1, 64)}
}

// pictures is how many pictures the clients hold, of all there are.
func (s situation) pictures(all int) int {
	if s.sites() {
		return all
	}
	return s.clients
}

// least is the smallest number of clients.
func (s situation) least() int {
	if s.sites() {
		return 2
	}
	return leastClients
}

// goals are what MNIST should reach with one picture for each client: what simulations of each pipeline reached on it, less
// what may be chance.
var goals = map[string]map[situation]float64{
	"glyphs-big": {
		{plan.Nobody, 60000, 1}: 0.962, {plan.Nobody, 60000, 2}: 0.969, {plan.Nobody, 60000, 4}: 0.974,
		{plan.Shuffler, 60000, 0.1}: 0.974, {plan.Shuffler, 60000, 0.25}: 0.980, {plan.Shuffler, 60000, 1}: 0.984,
	},
	"scatter": {
		{plan.Nobody, 60000, 2}: 0.845, {plan.Nobody, 60000, 4}: 0.91,
		{plan.Shuffler, 60000, 0.1}: 0.928, {plan.Shuffler, 60000, 0.25}: 0.954, {plan.Shuffler, 60000, 1}: 0.971,
	},
	"edges-centred": {{plan.Shuffler, 60000, 0.1}: 0.912, {plan.Shuffler, 60000, 0.25}: 0.940, {plan.Shuffler, 60000, 1}: 0.958},
	"glyphs": {
		{plan.Shuffler, 60000, 0.1}: 0.960, {plan.Shuffler, 60000, 0.25}: 0.968, {plan.Shuffler, 60000, 1}: 0.976,
		{plan.TwoServers, 200, 8}: 0.945, {plan.TwoServers, 600, 4}: 0.955, {plan.TwoServers, 1000, 1}: 0.945, {plan.TwoServers, 6000, 1}: 0.968,
		{plan.Shuffler, 1000, 1}: 0.94, {plan.Shuffler, 6000, 0.25}: 0.955, {plan.Shuffler, 6000, 1}: 0.968,
	},
}

// parseSettings reads settings between commas, or draws n where n is above 0.
func parseSettings(list string, n int) (out []situation, err error) {
	if n < 0 || n > 1000 {
		return nil, fl.Invalid("--random", n, "must be in [0, 1000]")
	}
	if n > 0 {
		return drawSettings(n, experiment.Stream(0, 96)), nil
	}
	for text := range strings.SplitSeq(list, ",") {
		s, err := parseSetting(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// parseSetting reads TRUST:CLIENTS@BUDGET.
func parseSetting(text string) (s situation, err error) {
	trust, rest, _ := strings.Cut(text, ":")
	clients, budget, _ := strings.Cut(rest, "@")
	var bad [2]error
	s.trust = plan.Trust(trust)
	s.clients, bad[0] = strconv.Atoi(clients)
	s.budget, bad[1] = strconv.ParseFloat(budget, 64)
	if !slices.Contains(trusts, s.trust) || errors.Join(bad[:]...) != nil || s.clients < s.least() || s.clients > mostClients || !(s.budget > 0 && s.budget <= fl.MaxEpsilon) {
		return s, fl.Invalid("--settings", text, "must be TRUST:CLIENTS@BUDGET like nobody:60000@4, with a trust among %v, %d to %d clients, or 2 sites at least, and a budget in (0, %d]", trusts, leastClients, mostClients, fl.MaxEpsilon)
	}
	return s, nil
}

// drawSettings draws settings: every trust is as likely as the others, and so is every ratio of two numbers of clients or of two ε.
func drawSettings(n int, rng *rand.Rand) []situation {
	between := func(least, most float64) float64 { return least * math.Pow(most/least, rng.Float64()) }
	var out []situation
	for range n {
		s := situation{trust: ofClients[rng.IntN(len(ofClients))], clients: int(between(leastClients, mostClients))}
		s.budget, _ = strconv.ParseFloat(strconv.FormatFloat(between(leastBudget, mostBudget), 'g', 2, 64), 64)
		out = append(out, s)
	}
	return out
}

// Write writes all pictures as the four files of MNIST into a directory, which it makes.
func Write(dir string, d *dataset.Data) error {
	return errors.Join(os.MkdirAll(dir, 0o755), writeSet(dir, "train", d.Train, all(d.Train)), writeSet(dir, "t10k", d.Test, all(d.Test)))
}

// all are the indices of all pictures.
func all(s *dataset.Set) []int {
	out := make([]int, s.Len())
	for i := range out {
		out[i] = i
	}
	return out
}

// deal writes the pictures of n clients, one each, and all test pictures as the four files of MNIST.
func deal(dir string, d *dataset.Data, n int, rng *rand.Rand) error {
	if n > d.Train.Len() {
		return fl.Invalid("clients", n, "must be at most the %d pictures", d.Train.Len())
	}
	return errors.Join(os.MkdirAll(dir, 0o700), writeSet(dir, "train", d.Train, rng.Perm(d.Train.Len())[:n]), writeSet(dir, "t10k", d.Test, all(d.Test)))
}

// writeSet writes pictures of a set as an idx3 file, and their labels as an idx1 file.
func writeSet(dir, name string, s *dataset.Set, which []int) error {
	n := uint32(len(which))
	pictures := words(0x0803, n, uint32(s.Rows), uint32(s.Cols))
	labels, wide := words(0x0801, n), s.Classes > 256
	if wide {
		labels = words(0x0b01, n)
	}
	for _, i := range which {
		for _, v := range s.Image(i) {
			pictures = append(pictures, byte(math.Round(255*v)))
		}
		if wide {
			labels = append(labels, byte(s.Labels[i]>>8))
		}
		labels = append(labels, byte(s.Labels[i]))
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, name+"-images-idx3-ubyte"), pictures, 0o644),
		os.WriteFile(filepath.Join(dir, name+"-labels-idx1-ubyte"), labels, 0o644))
}

// words are the header of an idx file.
func words(all ...uint32) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, all) // writing to a buffer of numbers has no errors
	return b.Bytes()
}
