package jetstream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/server/internal/journaltest"
	"github.com/hushgrad/hushgrad/server/journal"
)

func newState(t testing.TB, c *Cluster) (*state, *[]error) {
	t.Helper()
	var failures []error
	s, err := c.openState(t.Context(), func(err error) { failures = append(failures, err) })
	if err != nil {
		t.Fatal(err)
	}
	return s, &failures
}

func put(key string, value []byte) *journal.Batch {
	b := &journal.Batch{}
	b.Put([]byte(key), value)
	return b
}

func TestTheStateKeepsTheContractOfAJournal(t *testing.T) {
	var c *Cluster
	var name string
	journaltest.Run(t, true, func(t *testing.T) journal.Journal {
		if name != t.Name() { // the same journal within a test
			name, c = t.Name(), testCluster(t, Config{Shards: 1})
		}
		s, _ := newState(t, c)
		return s
	})
}

// After the first word of a new leader nothing of the old one is written.
func TestAnOldLeaderCannotWrite(t *testing.T) {
	c := testCluster(t, Config{Shards: 1})
	old, failures := newState(t, c)
	if err := old.Commit(put("a", []byte("old"))); err != nil {
		t.Fatal(err)
	}
	new, _ := newState(t, c)
	if err := old.Commit(put("a", []byte("too late"))); !errors.Is(err, errFenced) {
		t.Errorf("the old leader wrote: %v", err)
	}
	if len(*failures) != 1 {
		t.Errorf("the old leader was told %d times", len(*failures))
	}
	if err := old.Commit(put("b", nil)); !errors.Is(err, errFenced) {
		t.Errorf("the old leader tried again: %v", err)
	}
	if got, err := new.Get([]byte("a")); string(got) != "old" || err != nil {
		t.Errorf("the new leader has %q, %v", got, err)
	}
	if err := new.Commit(put("a", []byte("new"))); err != nil {
		t.Error(err)
	}
}

// A batch of several messages is there whole or not at all.
func TestABatchOfAStateIsWhole(t *testing.T) {
	c := testCluster(t, Config{Shards: 1})
	s, _ := newState(t, c)
	large := bytes.Repeat([]byte("large"), partBytes/2)
	if err := s.Commit(put("large", large)); err != nil {
		t.Fatal(err)
	}
	if err := s.append(kindPart, marshalBatch(put("half", large))[:partBytes]); err != nil { // and then the leader dies
		t.Fatal(err)
	}
	next, _ := newState(t, c)
	if got, err := next.Get([]byte("large")); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(large))
	}
	if err := next.Commit(put("after", []byte("it"))); err != nil {
		t.Fatal(err)
	}
	last, _ := newState(t, c)
	if got, err := last.Get([]byte("after")); string(got) != "it" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := last.Get([]byte("half")); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("half a batch: %v", err)
	}
}

// A message whose acknowledgement was lost is written once and is no other leader's.
func TestALostAcknowledgementIsNoOtherLeader(t *testing.T) {
	c := testCluster(t, Config{Shards: 1})
	s, _ := newState(t, c)
	last, count := s.last, s.count
	if err := s.Commit(put("a", []byte("1"))); err != nil {
		t.Fatal(err)
	}
	end := s.last
	s.last, s.count = last, count
	if err := s.Commit(put("a", []byte("1"))); err != nil || s.last != end {
		t.Errorf("last message %d, want %d: %v", s.last, end, err)
	}
}

// A state that is overwritten again and again does not grow without end, and is the same afterwards.
func TestTheStateIsWrittenAnew(t *testing.T) {
	c := testCluster(t, Config{Shards: 1})
	s, _ := newState(t, c)
	s.most = 64 << 10
	for i := range 100 {
		if err := s.Commit(put(fmt.Sprint("key", i%3), bytes.Repeat([]byte{byte(i)}, 4<<10))); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := patient(t)
	defer cancel()
	info, err := c.state.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Bytes > 128<<10 {
		t.Errorf("the stream has %d bytes", info.State.Bytes)
	}
	next, _ := newState(t, c)
	var keys []string
	for pair, err := range next.Scan(nil, []byte{0xff}) {
		if err != nil || len(pair.Value) != 4<<10 {
			t.Errorf("%s: %d bytes, %v", pair.Key, len(pair.Value), err)
		}
		keys = append(keys, fmt.Sprintf("%s=%d", pair.Key, pair.Value[0]))
	}
	if want := []string{"key0=99", "key1=97", "key2=98"}; !slices.Equal(keys, want) {
		t.Errorf("%v, want %v", keys, want)
	}
}
