package conformance

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/server/admit"
)

// reports adds reports of all mechanisms that clients send.
func (m *maker) reports() {
	sparse := func(mechanism, hash string, dim, s int) fl.Round {
		return m.round(fl.Round{Mechanism: mechanism, Dim: dim, Epsilon: 2, Params: fl.Params{"sparsity": fl.Int(s), "hash": fl.Text(hash)}})
	}
	for _, c := range []struct {
		name, anchor string
		round        fl.Round
		counted      bool
	}{
		{"coco-gf2", "coco-collision-and-signsketch", sparse("coco", "gf2", 1000, 16), true},
		{"coco-gf2-feistel", "coco-collision-and-signsketch", sparse("coco", "gf2", 100_000, 200), true},
		{"coco-ideal", "coco-collision-and-signsketch", sparse("coco", "ideal", 1000, 16), true},
		{"collision-gf2", "coco-collision-and-signsketch", sparse("collision", "gf2", 1000, 16), true},
		{"collision-gf2-feistel", "coco-collision-and-signsketch", sparse("collision", "gf2", 100_000, 200), true},
		{"collision-ideal", "coco-collision-and-signsketch", sparse("collision", "ideal", 1000, 16), true},
		{"signsketch", "coco-collision-and-signsketch", m.round(fl.Round{Mechanism: "signsketch", Dim: 50, Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(2)}}), true},
		{"privunit", "privunit", m.round(fl.Round{Mechanism: "privunit", Dim: 100, Epsilon: 2}), true},
		{"sumdp", "sumdp", m.round(fl.Round{Mechanism: "sumdp", Dim: 2, Epsilon: 1, Delta: 1e-6}, func(r *fl.Round) { r.MinReports = 1000 }), false},
		{"gaussian-shares", "gaussian-shares", m.round(fl.Round{Mechanism: "gaussian-shares", Dim: 3, Epsilon: 1, Delta: 1e-6}), false},
	} {
		m.reportsOf(c.name, formatPage+"#"+c.anchor, c.round, c.counted)
	}
}

func (m *maker) reportsOf(name, where string, r fl.Round, counted bool) {
	opened := must[fl.Mechanism](m.t)(fl.Open(r))
	rng := rand.New(rand.NewPCG(7, 8))
	gradient := make([]float64, r.Dim)
	gradient[0], gradient[r.Dim-1] = 0.5, -0.5
	add := func(what string, report []byte, coordinates []int, refused bool) {
		if refused {
			coordinates = nil
		}
		m.add(Case{Subject: Report, Name: fmt.Sprintf("%s-%s", name, what), Round: m.binary(r), Report: report, Coordinates: coordinates, Where: where}, refused)
	}
	var report []byte
	for i := range 2 {
		report = must[[]byte](m.t)(opened.Encode(nil, gradient, rng))
		var coordinates []int
		if counted {
			coordinates = m.telling(r, opened, report)
		}
		add(fmt.Sprint(i+1), report, coordinates, false)
	}
	add("empty", nil, nil, true)
	add("cut", report[:len(report)-1], nil, true)
	add("long", append(slices.Clone(report), 0), nil, true)
	if counted {
		bad := slices.Clone(report)
		for i := range bad[4:] {
			bad[4+i] = 0xff
		}
		if opened.NewAggregator().Add(bad) != nil {
			add("number-too-large", bad, nil, true)
		}
	}
}

// telling returns coordinates at which a report counts, and some more.
func (m *maker) telling(r fl.Round, opened fl.Mechanism, report []byte) []int {
	agg := opened.NewAggregator()
	if err := agg.Add(report); err != nil {
		m.t.Fatal(err)
	}
	all := must[[]int](m.t)(countsOf(r, opened, agg))
	at := []int{0, 1, 2, 3, len(all) / 2, len(all) - 1}
	for j := 4; j < len(all) && len(at) < 24; j++ {
		if all[j] != 0 {
			at = append(at, j)
		}
	}
	return at
}

func (m *maker) encoders() {
	for _, c := range []struct {
		name, mechanism, hash string
		sparsity              int
		gradient              []float64
	}{
		{"coco-gf2", "coco", "gf2", 1, []float64{1, 0, 0, 0}},
		{"coco-gf2-negative-half", "coco", "gf2", 1, []float64{0, -0.5, 0, 0}},
		{"coco-ideal", "coco", "ideal", 2, []float64{1, 0, -1, 0, 0}},
		{"coco-clipped", "coco", "ideal", 2, []float64{8, 0, -2, 0, 0}},
		{"coco-zero", "coco", "ideal", 2, []float64{0, 0, 0, 0, 0}},
		{"collision-gf2", "collision", "gf2", 1, []float64{0, 0, 1, 0}},
		{"collision-ideal", "collision", "ideal", 2, []float64{0.25, 0, -1, 0, 0}},
	} {
		r := m.round(fl.Round{Mechanism: c.mechanism, Dim: len(c.gradient), Epsilon: 2, Params: fl.Params{"sparsity": fl.Int(c.sparsity), "hash": fl.Text(c.hash)}})
		opened := must[fl.Mechanism](m.t)(fl.Open(r))
		law := &Law{make([]float64, r.Dim), make([]float64, r.Dim)}
		if err := opened.(fl.HitMechanism).AddHits(law.Plus, law.Minus, c.gradient); err != nil {
			m.t.Fatal(err)
		}
		m.add(Case{Subject: Encode, Name: c.name, Round: m.binary(r), Gradient: c.gradient, Reports: 8192, Law: law, Where: formatPage + "#coco-collision-and-signsketch"}, false)
	}
	_, public := m.issuer()
	token := make([]byte, admit.TokenBytes)
	for _, mechanism := range []string{"coco", "collision", "signsketch"} {
		c := Case{Subject: Encode, Name: mechanism + "-token", Token: token, Gradient: []float64{1, 0, 0, 0}, Reports: 8192, Where: formatPage + "#coco-collision-and-signsketch"}
		r := m.round(fl.Round{Mechanism: mechanism, Dim: len(c.Gradient), Epsilon: 2, Params: fl.Params{"sparsity": fl.Int(1)}}, func(r *fl.Round) { r.IssuerKey = public })
		c.Round, c.Law = m.binary(r), m.seededLaw(r, admit.Seed(token))
		m.add(c, false)
	}
}

// seededLaw returns the law of reports with one seed, of a client whose one entry is +1 at coordinate 0: the slot of that
// item has the weight High, and any other slot has the weight Low.
func (m *maker) seededLaw(r fl.Round, seed uint32) *Law {
	slots := max(2, slotsOf(r))
	w := must[exact.Weights](m.t)(exact.NewWeights(r.Epsilon, 1, slots))
	opened := must[fl.Mechanism](m.t)(fl.Open(r))
	law := &Law{make([]float64, r.Dim), make([]float64, r.Dim)}
	for z := range slots {
		agg := opened.NewAggregator()
		if err := agg.Add(append(binary.LittleEndian.AppendUint32(nil, seed), byte(z))); err != nil {
			m.t.Fatal(err)
		}
		all := must[[]int](m.t)(countsOf(r, opened, agg))
		p := float64(w.Low) / float64(w.Total)
		if all[0] == 1 {
			p = float64(w.High) / float64(w.Total)
		}
		for j, v := range all {
			law.Plus[j] += p * float64(max(v, 0))
			law.Minus[j] += p * float64(max(-v, 0))
		}
	}
	return law
}
