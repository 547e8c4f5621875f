package shuffler

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
	"github.com/hushgrad/hushgrad/server/seal"
)

// spearman returns Spearman's rank correlation of two orders of 0 to n-1 and the probability that a
// uniformly random order has a larger one in absolute value. Under a random order the correlation
// has mean 0 and variance exactly 1/(n-1), and it is normal up to O(1/n).
func spearman(t *testing.T, a, b []int) (rho, p float64) {
	t.Helper()
	n := len(a)
	if n != len(b) || n < 100 {
		t.Fatalf("orders of %d and %d", n, len(b))
	}
	at := make([]int, n)
	for i, v := range b {
		at[v] = i
	}
	sum := 0.0
	for i, v := range a {
		d := float64(i - at[v])
		sum += d * d
	}
	rho = 1 - 6*sum/(float64(n)*(float64(n)*float64(n)-1))
	return rho, math.Erfc(math.Abs(rho) * math.Sqrt(float64(n-1)/2))
}

// The orders of arrival, of the journal and of forwarding have nothing to do with each other. The
// test is seeded: ids and the secret are.
func TestTheOrdersAreUnrelated(t *testing.T) {
	const n = 2000
	s, err := newSecret([secretBytes]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	keys, ranks, arrival := make([][keyBytes]byte, n), make([]uint64, n), make([]int, n)
	for i := range n {
		keys[i] = s.key(seal.ID(fmt.Appendf(nil, "report %d", i)))
		ranks[i], arrival[i] = s.rank(reportKey("r", keys[i])), i
	}
	journaled, left := slices.Clone(arrival), slices.Clone(arrival)
	slices.SortFunc(journaled, func(a, b int) int { return bytes.Compare(keys[a][:], keys[b][:]) })
	slices.SortFunc(left, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	for what, orders := range map[string][2][]int{
		"arrival and the journal's order": {arrival, journaled}, "arrival and forwarding": {arrival, left},
		"the journal's order and forwarding": {journaled, left},
	} {
		if rho, chance := spearman(t, orders[0], orders[1]); chance < 1e-3 {
			t.Errorf("%s have rank correlation %.4f, p = %.2g", what, rho, chance)
		}
	}
	if rho, chance := spearman(t, left, left); rho != 1 || chance > 1e-9 {
		t.Errorf("an order has rank correlation %g with itself, p = %g", rho, chance)
	}
}

// diskParty is a shuffler on disk in front of a server on a port.
func diskParty(t *testing.T, cfg Config, server *recorder) (p *party, dir string, close func()) {
	t.Helper()
	dir = t.TempDir()
	kept, err := disk.Open(filepath.Join(dir, "journal"), disk.Options{MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Journal, cfg.Secrets = kept, filepath.Join(dir, "secrets")
	p = start(t, cfg, server)
	return p, dir, func() {
		t.Helper()
		p.Shuffler.Close()
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	}
}

// After a round nothing in any file tells which report came when or where it was among those that
// left, or leads to a report: not the order of what the journal's files still have, no sealed byte,
// no id, no key of the round, and no address of a client.
func TestNothingOfARoundStaysOnDisk(t *testing.T) {
	t.Parallel() // it mostly waits
	const n = 2000
	server := newRecorder()
	p, dir, closeAll := diskParty(t, Config{}, server)
	r := newSealedRound(t, func(r *fl.Round) { r.TargetReports = n })
	server.open(r.Round)
	server.refuse = func(int) error { return status.Error(codes.Unavailable, "not yet") } // until the files have been read
	l := listen(t, p)
	client, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p.clients = service.NewRoundsClient(client)

	items := r.items(t, n)
	for batch := range slices.Chunk(items, 50) {
		p.keeps(t, r, len(batch), 0, batch...)
	}
	secret, err := p.vault.read(r.digest)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the decision", func() bool { return p.known("r").now() == phaseForwarding })
	stored := keysOf(t, p.cfg.Journal)
	byKey := map[string]int{}
	for i, item := range items {
		key := p.known("r").secret.key(seal.ID(item[:r.format.Sealed]))
		byKey[string(key[:])] = i
	}
	server.with(func() { server.refuse = nil })
	p.gone(t, "r", forwarded)
	peers, files := l.peers(), filesOf(t, dir)
	closeAll()
	files = append(files, filesOf(t, dir)...) // as they were before, and as they are now

	sealed, _ := server.got()
	sameReports(t, r, sealed, items)
	arrival, journaled, left := make([]int, n), make([]int, n), make([]int, n)
	bySealed := map[string]int{}
	for i, item := range items {
		arrival[i], bySealed[string(item)] = i, i
	}
	for i := range n {
		journaled[i], left[i] = byKey[stored[i]], bySealed[string(sealed[i])]
	}
	for what, orders := range map[string][2][]int{
		"arrival and forwarding": {arrival, left}, "the journal's order and forwarding": {journaled, left},
		"arrival and the journal's order": {arrival, journaled},
	} {
		if rho, chance := spearman(t, orders[0], orders[1]); chance < 1e-9 { // nothing is seeded here
			t.Errorf("%s have rank correlation %.4f, p = %.2g", what, rho, chance)
		}
	}

	traces := map[[16]byte]bool{}
	for _, item := range items {
		id := seal.ID(item)
		for _, trace := range [][]byte{item, item[len(item)-16:], id[:], []byte(hex.EncodeToString(id[:8]))} {
			traces[[16]byte(trace)] = true
		}
	}
	s, err := newSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range [][]byte{secret[:], s.keys[:], s.order[:]} {
		traces[[16]byte(trace)] = true
	}
	if len(peers) == 0 {
		t.Error("no client was seen")
	}
	// That the traces can be found is shown by the keys, which the journal's files keep.
	if !slices.ContainsFunc(files, func(f []byte) bool { return bytes.Contains(f, []byte(stored[0])) }) {
		t.Error("the files have been written anew: the test finds nothing in them")
	}
	for _, file := range files {
		for i := range max(0, len(file)-15) {
			if trace := [16]byte(file[i:]); traces[trace] {
				t.Errorf("a file has %q", trace)
			}
		}
		for _, peer := range peers {
			if bytes.Contains(file, []byte(peer)) {
				t.Errorf("a file has %q", peer)
			}
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "secrets")); err != nil || len(left) != 1 || left[0].Name() != "id" {
		t.Errorf("the directory of secrets has %v, %v", left, err)
	}
}

// keysOf returns the keys of the reports in a journal, in its order.
func keysOf(t *testing.T, j journal.Journal) (keys []string) {
	t.Helper()
	prefix := reportsOf("r")
	for pair, err := range j.Scan(prefix, journal.After(prefix)) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(pair.Key[len(prefix):]))
	}
	return keys
}

// filesOf returns what all files below a directory have.
func filesOf(t *testing.T, dir string) (files [][]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "reserve" { // random bytes that a journal wrote before anything else
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the journal has removed it
		}
		files = append(files, bytes.TrimRight(data, "\x00")) // a journal's file is longer than what it holds
		return err
	})
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}
