package gaussian

import (
	"bytes"
	"encoding"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/idset"
)

func marshalled(t testing.TB, s encoding.BinaryMarshaler) []byte {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var sides = []fl.ShareSide{fl.FirstServer, fl.SecondServer}

// Shards in any order, and their snapshots, sum to the bytes of one aggregator.
func TestShardsAndSnapshotsSumToTheWhole(t *testing.T) {
	m := open(t, testRound(5))
	all := pairs(t, m, 6)
	for _, side := range sides {
		whole := newServer(t, m, side)
		shards := []fl.ShareAggregator{newServer(t, m, side), newServer(t, m, side)}
		for i, p := range all {
			for _, s := range []fl.ShareAggregator{whole, shards[i%2]} {
				if err := s.Add(p.id, p.share(side)); err != nil {
					t.Fatal(err)
				}
			}
		}
		restored := newServer(t, m, side)
		if err := restored.UnmarshalBinary(marshalled(t, shards[1])); err != nil {
			t.Fatal(err)
		}
		other := marshalled(t, shards[0])
		if err := restored.Merge(shards[0]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshalled(t, restored), marshalled(t, whole)) {
			t.Errorf("server %d: shards are not the whole", side)
		}
		if !bytes.Equal(marshalled(t, shards[0]), other) {
			t.Errorf("server %d: what was merged changed", side)
		}
	}
}

func TestStrangersAreNotMerged(t *testing.T) {
	r := testRound(5)
	m := open(t, r)
	r.ID = "r2"
	stranger := open(t, r)
	s := newServer(t, m, fl.FirstServer)
	before := marshalled(t, s)
	for name, other := range map[string]fl.ShareAggregator{
		"another round": newServer(t, stranger, fl.FirstServer), "another server": newServer(t, m, fl.SecondServer), "none": nil,
	} {
		if err := s.Merge(other); err == nil {
			t.Errorf("%s was merged", name)
		}
		if other != nil {
			if err := s.UnmarshalBinary(marshalled(t, other)); err == nil {
				t.Errorf("the snapshot of %s was read", name)
			}
		}
	}
	if !bytes.Equal(marshalled(t, s), before) {
		t.Error("the state changed")
	}
}

// payloadOf returns what a snapshot of a round holds.
func payloadOf(t testing.TB, m *mechanism, data []byte) []byte {
	t.Helper()
	payload, err := m.round.Payload(data, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return payload.Rest()
}

// Each change of a payload that a snapshot must not have.
func TestBadSnapshotsAreRefused(t *testing.T) {
	m := open(t, unevenRound())
	s := newServer(t, m, fl.SecondServer)
	p := pairs(t, m, 1)[0]
	if err := s.Add(p.id, p.second); err != nil {
		t.Fatal(err)
	}
	good := payloadOf(t, m, marshalled(t, s))
	if want := 1 + 1 + idset.Bytes + ringOf(m).bytes(); len(good) != want {
		t.Fatalf("a payload has %d bytes, want %d", len(good), want)
	}
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		param  string
	}{
		"nothing":            {func([]byte) []byte { return nil }, "side"},
		"side":               {func(b []byte) []byte { b[0] = 1; return b }, "side"},
		"no number":          {func(b []byte) []byte { return b[:1] }, "reports"},
		"a long number":      {func(b []byte) []byte { return append([]byte{2, 0x81, 0}, b[2:]...) }, "reports"},
		"too many reports":   {func(b []byte) []byte { return append([]byte{2, 255, 255, 255, 255, 255, 127}, b[2:]...) }, "reports"},
		"a byte less":        {func(b []byte) []byte { return b[:len(b)-1] }, "sums"},
		"a byte more":        {func(b []byte) []byte { return append(b, 0) }, "sums"},
		"unused bits":        {func(b []byte) []byte { b[len(b)-1] |= 0x80; return b }, "sums"},
		"more than the most": {func(b []byte) []byte { return append(b, make([]byte, 70<<10)...) }, "payload"},
	} {
		data, err := m.round.Snapshot(c.change(bytes.Clone(good)))
		if err != nil {
			t.Fatal(err)
		}
		before := marshalled(t, s)
		var param *fl.ParamError
		if err := s.UnmarshalBinary(data); !errors.As(err, &param) || param.Param != c.param {
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
		if !bytes.Equal(marshalled(t, s), before) {
			t.Errorf("%s: the state changed", name)
		}
	}
}

// What is read back is what was read, and nothing that is refused changes anything.
func FuzzShareAggregatorUnmarshal(f *testing.F) {
	m := open(f, testRound(3))
	s := newServer(f, m, fl.SecondServer)
	for _, p := range pairs(f, m, 3) {
		if err := s.Add(p.id, p.second); err != nil {
			f.Fatal(err)
		}
	}
	payload := payloadOf(f, m, marshalled(f, s))
	f.Add(payload)
	f.Add(payload[:5])
	f.Fuzz(func(t *testing.T, payload []byte) {
		data, err := m.round.Snapshot(payload)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, m, fl.SecondServer)
		empty := marshalled(t, s)
		switch err := s.UnmarshalBinary(data); {
		case err != nil && !bytes.Equal(marshalled(t, s), empty):
			t.Fatal("a refused snapshot changed the state")
		case err == nil && !bytes.Equal(marshalled(t, s), data):
			t.Fatalf("%x comes back as another", payload)
		}
		if e, err := m.Combine(data, data); err == nil {
			t.Fatalf("sums without noise were combined: %v", e)
		}
	})
}

// A share is refused, or counted and of one size.
func FuzzShares(f *testing.F) {
	rounds := []*mechanism{open(f, unevenRound()), open(f, recordRound(5))}
	for i, m := range rounds {
		p := pairs(f, m, 1)[0]
		f.Add(i == 1, p.id, p.first)
		f.Add(i == 1, p.id, p.second)
	}
	f.Add(false, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, records bool, id, share []byte) {
		m := rounds[0]
		if records {
			m = rounds[1]
		}
		for _, side := range sides {
			s := newServer(t, m, side)
			empty := marshalled(t, s)
			err := s.Add(id, share)
			if err != nil && (!errors.Is(err, fl.ErrBadReport) || !bytes.Equal(marshalled(t, s), empty)) {
				t.Fatalf("server %d: %v", side, err)
			}
			if err == nil && len(share) != m.ShareBytes(side) {
				t.Fatalf("server %d took %d bytes", side, len(share))
			}
		}
		whole := m.NewAggregator()
		if err := whole.Add(share); err == nil && len(share) != m.ReportBytes() {
			t.Fatalf("%d bytes were a report", len(share))
		}
	})
}
