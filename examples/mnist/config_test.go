package main

import (
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestRoundsSayWhatTheFlagsSay(t *testing.T) {
	for _, mechanism := range mechanisms {
		c := defaults(mechanism)
		c.clip, c.sparsity, c.cohort, c.epsilon, c.seed = 12, 48, 700, 3, 9
		r := c.round(4, 7850)
		if r.ID != "mnist-005" || r.Mechanism != mechanism || r.Dim != 7850 || r.Relation != fl.ReplaceOne {
			t.Errorf("%s: round %+v", mechanism, r)
		}
		scale := 0.25
		if mechanism == "sumdp" {
			scale = 12
		}
		if r.Scale != scale || r.MinReports != 700 || r.TargetReports != 700 || r.PublicSeed != c.publicSeed(4) {
			t.Errorf("%s: scale %g, reports %d and %d, seed %x; want %g, the cohort of 700 twice, the seed of round 4",
				mechanism, r.Scale, r.MinReports, r.TargetReports, r.PublicSeed, scale)
		}
		if mechanism == "none" {
			if !math.IsInf(r.Epsilon, 1) || len(r.Params) != 0 {
				t.Errorf("%s: ε = %g, parameters %v", mechanism, r.Epsilon, r.Params)
			}
		} else if mechanism == "sumdp" {
			want := fl.Params{"range": fl.Real(0.8), "levels": fl.Int(1), "calibration": fl.Text("certified")}
			if r.Epsilon != 3 || r.Delta != 1e-6 || !maps.Equal(r.Params, want) {
				t.Errorf("%s: ε = %g, δ = %g, parameters %v, want 3, 1e-6, %v", mechanism, r.Epsilon, r.Delta, r.Params, want)
			}
		} else if r.Epsilon != 3 || len(r.Params) != 1 || r.Params["sparsity"] != fl.Int(48) {
			t.Errorf("%s: ε = %g, parameters %v, want 3 and the sparsity 48", mechanism, r.Epsilon, r.Params)
		}
	}
}

func TestFlagsAtTheirLimits(t *testing.T) {
	for _, good := range []string{"-epsilon=20", "-delta=0.999", "-momentum=0", "-rounds=31", "-clients=2000", "-budget=3", "-pool=1", "-sparsity=1", "-cohort=0", "-lr=0", "-averaging=0", "-features=pixels", "-features=edges"} {
		if _, err := parseFlags([]string{good}, io.Discard); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for arg, param := range map[string]string{
		"-epsilon=21": "-epsilon", "-epsilon=-1": "-epsilon", "-epsilon=Inf": "-epsilon", "-delta=0": "-delta",
		"-delta=-1": "-delta", "-delta=NaN": "-delta", "-clip=-2": "-clip", "-clip=NaN": "-clip", "-averaging=1": "-averaging", "-features=wavelets": "-features",
		"-lr=Inf": "-lr", "-momentum=-0.1": "-momentum", "-averaging=NaN": "-averaging", "-momentum=NaN": "-momentum",
	} {
		_, err := parseFlags([]string{arg}, io.Discard)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v, want a ParamError for %s", arg, err, param)
		}
	}
}

// The defaults of the other flags follow the mechanism, wherever its flag stands.
func TestDefaultsFollowTheMechanism(t *testing.T) {
	for _, args := range [][]string{
		{"-mechanism", "sumdp"}, {"--mechanism=sumdp"}, {"-seed", "3", "-mechanism=sumdp"}, {"-mechanism", "coco", "-mechanism", "sumdp"},
	} {
		c, err := parseFlags(args, io.Discard)
		if err != nil || c.mechanism != "sumdp" || c.epsilon != 1 || c.cohort != 6000 {
			t.Errorf("%v: %+v, %v", args, c, err)
		}
	}
	c, err := parseFlags([]string{"-mechanism=sumdp", "-epsilon=2", "-base=bbgn", "-levels=3"}, io.Discard)
	if err != nil || c.epsilon != 2 || c.round(0, 100).Params["base"] != fl.Text("bbgn") || c.round(0, 100).Params["levels"] != fl.Int(3) {
		t.Errorf("flags of sumdp: %+v, %v", c, err)
	}
}

// draws are the first numbers of a stream.
func draws(rng *rand.Rand) (out [4]uint64) {
	for i := range out {
		out[i] = rng.Uint64()
	}
	return out
}

// Equal draws of different streams have probability 2^-256.
func TestStreams(t *testing.T) {
	fresh := config{seed: 0}
	first, second := draws(fresh.stream(forClient, 1)), draws(fresh.stream(forClient, 1))
	if first == second {
		t.Error("without a seed two streams are the same")
	}
	seen := map[[4]uint64]bool{}
	for _, seed := range []uint64{7, 8, 7 << 32, math.MaxUint64} {
		c := config{seed: seed}
		for _, use := range []uint64{forInit, forAssignment, forPublicSeed, forClient} {
			for _, index := range []uint64{0, 1, 2, 1 << 40} {
				d := draws(c.stream(use, index))
				if d != draws(c.stream(use, index)) {
					t.Errorf("seed %d, use %d, index %d: the stream does not repeat", seed, use, index)
				}
				if seen[d] {
					t.Errorf("seed %d, use %d, index %d: another stream is the same", seed, use, index)
				}
				seen[d] = true
			}
		}
	}
}

func TestPublicSeedsDifferByRound(t *testing.T) {
	for _, seed := range []uint64{0, 7} {
		c := config{seed: seed}
		seen := map[[32]byte]bool{}
		words := map[[8]byte]bool{}
		for i := range 20 {
			s := c.publicSeed(i)
			seen[s] = true
			for k := 0; k < len(s); k += 8 {
				words[[8]byte(s[k:])] = true
			}
		}
		if len(seen) != 20 || len(words) != 80 {
			t.Errorf("seed %d: 20 rounds have %d public seeds of %d different words, want 20 and 80", seed, len(seen), len(words))
		}
	}
	c := config{seed: 7}
	first, second := c.publicSeed(3), c.publicSeed(3)
	if first != second {
		t.Error("a seeded run has two public seeds for one round")
	}
}

// Every client is in one round at most, and holds images of its own.
func TestRoundsAndSharesAreDisjoint(t *testing.T) {
	c, data := small(t, "coco")
	c.clients, c.cohort, c.rounds = 430, 140, 3
	p, err := newPopulation(c, data.Train)
	if err != nil {
		t.Fatal(err)
	}
	if p.share != 2 {
		t.Errorf("%d images per client, want ⌊900/430⌋ = 2", p.share)
	}
	asked := map[int]int{}
	for round := range c.rounds {
		first, last := p.members(round)
		if last-first != c.cohort || first < 0 || last > c.clients {
			t.Errorf("round %d has the clients %d to %d, want %d of %d", round, first, last, c.cohort, c.clients)
		}
		for id := first; id < last; id++ {
			if before, ok := asked[id]; ok {
				t.Fatalf("client %d is in the rounds %d and %d", id, before, round)
			}
			asked[id] = round
		}
	}
	held := map[*float64]int{}
	for id := range c.clients {
		x, y := p.examples(id, nil, nil)
		if len(x) != 2 || len(y) != 2 {
			t.Fatalf("client %d holds %d images and %d labels", id, len(x), len(y))
		}
		for i := range x {
			at := &x[i][0]
			if other, ok := held[at]; ok {
				t.Fatalf("clients %d and %d hold the same image", other, id)
			}
			held[at] = id
		}
	}
}
