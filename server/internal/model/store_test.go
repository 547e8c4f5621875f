package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

func open(t *testing.T, kept journal.Journal) *Store {
	t.Helper()
	s, err := Open(Config{Journal: kept, Key: "m", MaxBytes: 10 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put publishes data and returns the version.
func put(t *testing.T, s *Store, data []byte) uint64 {
	t.Helper()
	u := s.Upload()
	sum := sha256.Sum256(data)
	if err := u.Add(&service.ModelHeader{Format: "x", Size: uint64(len(data)), Sha256: sum[:]}, data); err != nil {
		t.Fatal(err)
	}
	h, err := u.FinishAfter(0)
	if err != nil {
		t.Fatal(err)
	}
	return h.GetVersion()
}

// places counts the models whose parts a journal has.
func places(t *testing.T, kept journal.Journal) int {
	t.Helper()
	found := map[string]bool{}
	for pair, err := range kept.Scan([]byte("m/"), journal.After([]byte("m/"))) {
		if err != nil {
			t.Fatal(err)
		}
		found[string(pair.Key[:len("m/")+8])] = true
	}
	return len(found)
}

// reader is a stream that runs do before each message and keeps what it gets.
type reader struct {
	grpc.ServerStream
	do    func(part int) error
	parts int
	data  []byte
}

func (*reader) Context() context.Context { return context.Background() }

func (r *reader) SendMsg(m any) error {
	if r.do != nil {
		if err := r.do(r.parts); err != nil {
			return err
		}
	}
	r.parts++
	wire, err := proto.Marshal(m.(encoded))
	var got service.GetModelResponse
	if err == nil {
		err = proto.Unmarshal(wire, &got)
	}
	r.data = append(r.data, got.GetData()...)
	return err
}

var errBroken = errors.New("broken")

// Readers of the model before the current one go on. Readers of older ones give way. The journal keeps
// what is read and no more.
func TestReadersOfOldModelsGiveWay(t *testing.T) {
	kept := journal.NewMemory()
	s := open(t, kept)
	if err := s.Send(&reader{}); !errors.Is(err, ErrNone) {
		t.Errorf("no model: %v", err)
	}
	first, other := bytes.Repeat([]byte("first"), 50_000), bytes.Repeat([]byte("other"), 50_000)
	for publications, want := range map[int]error{0: nil, 1: nil, 2: ErrRetired} {
		put(t, s, first)
		r := &reader{do: func(part int) error {
			if part != 1 {
				return nil
			}
			for i := range publications {
				put(t, s, append(other, byte(i)))
			}
			if n := places(t, kept); n != 1 && (n != 2 || publications != 1) {
				t.Errorf("%d publications meanwhile: %d models are kept", publications, n)
			}
			return nil
		}}
		if err := s.Send(r); !errors.Is(err, want) || want == nil && !bytes.Equal(r.data, first) {
			t.Errorf("%d publications meanwhile: %d bytes, %v, want %v", publications, len(r.data), err, want)
		}
		if n := places(t, kept); n != 1 {
			t.Errorf("%d models are kept when nobody reads", n)
		}
	}
}

// Uploads that end early leave nothing, at once or, after a crash, at the next start. Versions have no
// gaps.
func TestUnfinishedUploadsLeaveNothing(t *testing.T) {
	kept := journal.NewMemory()
	s := open(t, kept)
	data := bytes.Repeat([]byte("weights!"), 1<<20)
	sum := sha256.Sum256(data)
	begun := func(s *Store) *Upload {
		u := s.Upload()
		if err := u.Add(&service.ModelHeader{Format: "x", Size: uint64(len(data)), Sha256: sum[:]}, data[:7<<20]); err != nil {
			t.Fatal(err)
		}
		return u
	}
	if v := put(t, s, data); v != 1 {
		t.Errorf("version %d", v)
	}
	u := begun(s)
	if n := places(t, kept); n != 2 {
		t.Fatalf("%d models are kept, want the begun one, too", n)
	}
	u.Abort()
	if _, err := begun(s).FinishAfter(0); err == nil {
		t.Error("a part of a model is finished")
	}
	if n := places(t, kept); n != 1 {
		t.Errorf("%d models are kept after uploads that ended early", n)
	}
	older := begun(s) // is there while another one is published
	if v := put(t, s, []byte("second")); v != 2 {
		t.Errorf("version %d", v)
	}
	if err := older.Add(nil, data[7<<20:]); err != nil {
		t.Fatal(err)
	}
	if h, err := older.FinishAfter(0); err != nil || h.GetVersion() != 3 {
		t.Errorf("version %d, %v", h.GetVersion(), err)
	}
	begun(s) // the process ends here
	s = open(t, kept)
	r := &reader{}
	if err := s.Send(r); err != nil || !bytes.Equal(r.data, data) || places(t, kept) != 1 {
		t.Errorf("after a restart: %d bytes, %v, %d models", len(r.data), err, places(t, kept))
	}
	if v := put(t, s, []byte("fourth")); v != 4 {
		t.Errorf("version %d after a restart", v)
	}
}

// Readers share a part as long as one of them holds it, and nothing else is in memory.
func TestReadersShareParts(t *testing.T) {
	s := open(t, journal.NewMemory())
	put(t, s, make([]byte, 1<<20))
	m := s.join()
	defer s.leave(m)
	one, err := s.part(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	buffers, err := NewCodec().Marshal(newEncoded(one))
	if err != nil {
		t.Fatal(err)
	}
	one = nil
	runtime.GC()
	held := m.sent[1].Value()
	if again, err := s.part(m, 1); err != nil || held == nil || again != held {
		t.Errorf("a second reader gets a copy of its own, %v", err)
	}
	held = nil
	buffers.Free()
	runtime.GC()
	if m.sent[1].Value() != nil {
		t.Error("a part that nobody holds is in memory")
	}
}

// A store whose journal is damaged does not open.
func TestDamagedModelsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*journal.Batch){
		"the pointer":   func(b *journal.Batch) { b.Put([]byte("m"), []byte{1}) },
		"no version":    func(b *journal.Batch) { b.Put([]byte("m"), make([]byte, 16)) },
		"another model": func(b *journal.Batch) { b.Put([]byte("m"), append(make([]byte, 15), 9)) },
		"a version":     func(b *journal.Batch) { b.Put([]byte("m"), []byte{7: 2, 15: 1}) },
		"a missing part": func(b *journal.Batch) {
			b.Delete([]byte("m/\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01"), []byte("m/\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02"))
		},
		"a strange key": func(b *journal.Batch) { b.Put([]byte("m/x"), nil) },
	} {
		kept := journal.NewMemory()
		put(t, open(t, kept), make([]byte, 200_000))
		var b journal.Batch
		spoil(&b)
		if err := kept.Commit(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Journal: kept, Key: "m", MaxBytes: 1 << 20}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	kept := journal.NewMemory()
	s := open(t, kept)
	put(t, s, make([]byte, 200_000))
	if err := s.Send(&reader{do: func(int) error { return errBroken }}); !errors.Is(err, errBroken) {
		t.Errorf("a broken stream: %v", err)
	}
}
