package gaussian

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// servers are two share aggregators.
type servers struct{ first, second fl.ShareAggregator }

func newServer(t testing.TB, m *mechanism, side fl.ShareSide) fl.ShareAggregator {
	t.Helper()
	s, err := m.NewShareAggregator(side)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newServers(t testing.TB, m *mechanism) servers {
	t.Helper()
	return servers{newServer(t, m, fl.FirstServer), newServer(t, m, fl.SecondServer)}
}

func (s servers) add(t testing.TB, id, first, second []byte) {
	t.Helper()
	if err := errors.Join(s.first.Add(id, first), s.second.Add(id, second)); err != nil {
		t.Fatal(err)
	}
}

func (s servers) release(t testing.TB) (first, second []byte) {
	t.Helper()
	first, err := s.first.Release(newRand(13))
	if err != nil {
		t.Fatal(err)
	}
	if second, err = s.second.Release(newRand(14)); err != nil {
		t.Fatal(err)
	}
	return first, second
}

// pair is the shares of one report.
type pair struct{ id, first, second []byte }

func pairs(t testing.TB, m *mechanism, n int) []pair {
	t.Helper()
	rng := newRand(8)
	out := make([]pair, n)
	for i := range out {
		grad := make([]float64, m.round.Dim)
		grad[i%len(grad)] = 1
		first, second, err := m.EncodeShares(nil, nil, grad, rng)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = pair{fmt.Appendf(nil, "id %d", i), first, second}
	}
	return out
}

func TestSharesThatDoNotMatchAreDetected(t *testing.T) {
	m := open(t, testRound(5))
	all := pairs(t, m, 8)
	for name, c := range map[string]struct {
		first, second []int
		unmatched     bool
	}{
		"the same, in another order":      {[]int{0, 1, 2, 3, 4}, []int{4, 2, 0, 1, 3}, false},
		"one missing at the second":       {[]int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3}, true},
		"one missing at the first":        {[]int{1, 2, 3, 4}, []int{0, 1, 2, 3, 4}, true},
		"one in the place of another":     {[]int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3, 5}, true},
		"one twice at the second":         {[]int{0, 1, 2, 3}, []int{0, 1, 2, 3, 3}, true},
		"one twice, another missing":      {[]int{0, 1, 2, 3}, []int{0, 1, 2, 2}, true},
		"no report that both servers got": {[]int{0, 1, 2, 3}, []int{4, 5, 6, 7}, true},
	} {
		s := newServers(t, m)
		for _, i := range c.first {
			if err := s.first.Add(all[i].id, all[i].first); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range c.second {
			if err := s.second.Add(all[i].id, all[i].second); err != nil {
				t.Fatal(err)
			}
		}
		e, err := m.Combine(s.release(t))
		if errors.Is(err, fl.ErrUnmatched) != c.unmatched || (e == nil) != c.unmatched {
			t.Errorf("%s: %v, %v", name, e, err)
		}
		var p *fl.ParamError
		if errors.As(err, &p) && (p.Param == "reports") != (len(c.first) != len(c.second)) {
			t.Errorf("%s: the error is about %s", name, p.Param)
		}
	}
}

func TestNothingIsReleasedFromTooFewReports(t *testing.T) {
	m := open(t, testRound(5))
	all := pairs(t, m, 3)
	for _, side := range []fl.ShareSide{fl.FirstServer, fl.SecondServer} {
		s := newServer(t, m, side)
		want := fl.ErrNoReports
		for _, p := range all {
			if data, err := s.Release(nil); data != nil || !errors.Is(err, want) {
				t.Errorf("server %d: %d bytes, %v, want %v", side, len(data), err, want)
			}
			want = fl.ErrTooFewReports
			if err := s.Add(p.id, p.share(side)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Release(nil); err != nil {
			t.Errorf("server %d: %v", side, err)
		}
	}
	// A server that releases all the same does not bring the other's code to decode.
	few := newServers(t, m)
	few.add(t, all[0].id, all[0].first, all[0].second)
	bare := func(side fl.ShareSide, s fl.ShareAggregator) []byte {
		one := s.(*server)
		data, err := m.round.Snapshot(one.encode(nil, released(side), 1, &one.ids))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first, second := bare(fl.FirstServer, few.first), bare(fl.SecondServer, few.second)
	if e, err := m.Combine(first, second); e != nil || !errors.Is(err, fl.ErrTooFewReports) {
		t.Errorf("%v, %v, want %v", e, err, fl.ErrTooFewReports)
	}
}

func (p pair) share(side fl.ShareSide) []byte {
	if side == fl.FirstServer {
		return p.first
	}
	return p.second
}

// A share is no proof of anything: one that was changed counts, and shifts the sum. What
// protects it on its way is the seal.
func TestAChangedShareShiftsTheSum(t *testing.T) {
	m := open(t, testRound(4))
	all := pairs(t, m, 3)
	honest, shifted := newServers(t, m), newServers(t, m)
	for i, p := range all {
		honest.add(t, p.id, p.first, p.second)
		if i == 1 {
			p.second = slices.Clone(p.second)
			p.second[0] ^= 1
		}
		shifted.add(t, p.id, p.first, p.second)
	}
	a, err := m.Combine(honest.release(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Combine(shifted.release(t))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(a.Mean().Value, b.Mean().Value) {
		t.Error("a changed share changed nothing")
	}
}

// unevenRound has one coordinate, whose bits are no whole number of bytes.
func unevenRound() fl.Round { return testRound(1) }

func TestBadSharesAreRefused(t *testing.T) {
	m := open(t, unevenRound())
	p := pairs(t, m, 1)[0]
	padded := slices.Clone(p.second)
	padded[len(padded)-1] |= 0x80
	for name, c := range map[string]struct {
		side      fl.ShareSide
		id, share []byte
	}{
		"no id":           {fl.FirstServer, nil, p.first},
		"a long id":       {fl.SecondServer, make([]byte, fl.MaxShareIDBytes+1), p.second},
		"a short seed":    {fl.FirstServer, p.id, p.first[1:]},
		"no seed":         {fl.FirstServer, p.id, nil},
		"a short share":   {fl.SecondServer, p.id, p.second[1:]},
		"a long share":    {fl.SecondServer, p.id, append(p.second, 0)},
		"unused bits":     {fl.SecondServer, p.id, padded},
		"the other share": {fl.FirstServer, p.id, p.second},
	} {
		s := newServer(t, m, c.side)
		if err := s.Add(p.id, p.share(c.side)); err != nil {
			t.Fatal(err)
		}
		before := marshalled(t, s)
		if err := s.Add(c.id, c.share); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v, want ErrBadReport", name, err)
		}
		if !bytes.Equal(marshalled(t, s), before) {
			t.Errorf("%s: the state changed", name)
		}
	}
	whole := m.NewAggregator().(*count.Aggregator[[]byte, *total])
	empty := marshalled(t, whole)
	for name, report := range map[string][]byte{"unused bits": slices.Concat(p.first, padded), "short": p.first, "none": nil} {
		good := slices.Concat(p.first, p.second)
		var batch *fl.BatchError
		if err := whole.AddBatch([][]byte{good, report}); !errors.As(err, &batch) || batch.Index != 1 || !errors.Is(err, fl.ErrBadReport) || !bytes.Equal(marshalled(t, whole), empty) {
			t.Errorf("a whole report, %s: %v", name, err)
		}
	}
	if _, err := m.NewShareAggregator(3); err == nil {
		t.Error("a third server was accepted")
	}
}
