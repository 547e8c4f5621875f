package jetstream

import (
	"bytes"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
)

func FuzzMessage(f *testing.F) {
	round := testRound(f, nil)
	open, err := openMessage(round)
	if err != nil {
		f.Fatal(err)
	}
	if r, err := open.round(); err != nil || !r.Equal(round) {
		f.Fatalf("%v, %v", r, err)
	}
	f.Add(open.marshal())
	f.Add(message{kindReports, open.digest, []byte("sealed")}.marshal())
	f.Add(message{kind: kindFence}.marshal())
	f.Add(message{kind: kindEnd}.marshal())
	f.Add([]byte("X"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMessage(data)
		if err != nil {
			return
		}
		if !bytes.Equal(m.marshal(), data) {
			t.Errorf("%x was read as %x", data, m.marshal())
		}
		if m.kind != kindOpen {
			return
		}
		if r, err := m.round(); err == nil {
			if digest, err := r.Digest(); err != nil || digest != m.digest {
				t.Errorf("the round of %x has another digest", data)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	round, err := testRound(f, nil).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	name := objectName([]byte("object"))
	good, err := manifest{Holder: "h", Positions: []uint64{1, 2}, Rounds: []entry{
		{Round: round, Reports: 5, Rejected: 1, Sum: name, Head: name, Ended: []bool{false, true}},
	}}.marshal()
	if err != nil {
		f.Fatal(err)
	}
	if m, err := parseManifest(good, 2); err != nil || m.Rounds[0].description.ID != "r" || !m.past([]uint64{1, 2}) || m.past([]uint64{1, 3}) {
		f.Fatalf("%+v, %v", m, err)
	}
	f.Add(good)
	f.Add(bytes.Replace(good, []byte(`"version":1`), []byte(`"version":2`), 1))
	f.Add(bytes.Replace(good, []byte(`[1,2]`), []byte(`[1]`), 1))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data, 2)
		if err != nil {
			return
		}
		written, err := m.marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseManifest(written, 2)
		if err != nil || len(again.Rounds) != len(m.Rounds) || len(again.Positions) != 2 {
			t.Errorf("%q was written as %q: %v", data, written, err)
		}
		for _, e := range m.Rounds {
			if found, ok := again.find(e.digest); !ok || found.Reports < 0 || len(found.Ended) != 2 {
				t.Errorf("%q: round %x is not there again", data, e.digest)
			}
		}
	})
}

func FuzzSegment(f *testing.F) {
	f.Add(segment{ids: []id{{1}, {2}}}.marshal())
	f.Add(segment{before: objectName(nil)}.marshal())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSegment(data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.marshal(), data) || checkName("before", s.before) != nil {
			t.Errorf("%x was read as %x", data, s.marshal())
		}
	})
}

func FuzzBatch(f *testing.F) {
	var b journal.Batch
	b.Delete(nil, []byte{0xff})
	b.Put([]byte("key"), nil)
	b.Put([]byte("other"), []byte("value"))
	f.Add(marshalBatch(&b))
	f.Add([]byte{opPut, 0, 0})
	f.Add([]byte{opDelete, 1, 'a', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseBatch(data)
		if err != nil {
			return
		}
		again, err := parseBatch(marshalBatch(b))
		if err != nil || len(again.Changes()) != len(b.Changes()) || again.Bytes() != b.Bytes() {
			t.Errorf("%x was read as %v, and then: %v", data, b.Changes(), err)
		}
		if err := journal.NewMemory().Commit(b); err != nil {
			t.Errorf("%x cannot be committed: %v", data, err)
		}
	})
}

func FuzzStateMessage(f *testing.F) {
	f.Add(append([]byte{kindLast}, make([]byte, stateHeader)...))
	f.Add(append([]byte{kindTerm}, make([]byte, stateHeader-1)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, part, err := parseStateMessage(data)
		if err == nil && (kind != data[0] || len(part) != len(data)-stateHeader) {
			t.Errorf("%x was read as %c %x", data, kind, part)
		}
	})
}

func FuzzObject(f *testing.F) {
	b := testBox(f)
	name, object := b.seal("sum", 1, []byte("plaintext"))
	f.Add(name, object)
	f.Add(objectName(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, name string, object []byte) {
		if got, err := b.open("sum", 1, name, object); err == nil && (string(got) != "plaintext" || name != objectName(object)) {
			t.Errorf("%x was opened as %q", object, got)
		}
	})
}
