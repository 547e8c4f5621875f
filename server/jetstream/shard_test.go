package jetstream

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// A report that comes again, in one lane or in another, before or after a snapshot, counts once.
func TestAShardCountsAReportOnce(t *testing.T) {
	b := newBench(t, 2)
	sealed := sealReports(t, b.round, 30)
	b.put(0, kindOpen)
	b.put(1, kindOpen)
	b.put(0, kindReports, append(sealed[:10:10], sealed[5])...)
	b.put(1, kindReports, sealed[5:20]...)
	b.drain()
	b.must(b.save(t.Context()))
	b.put(0, kindReports, sealed...)
	b.put(1, kindReports, sealed...)
	b.drain()
	if n := b.counted(); n != 30 {
		t.Errorf("%d reports counted, 30 were sent", n)
	}
	one := newBench(t, 1)
	one.round, one.open, one.keys = b.round, b.open, b.keys
	one.put(0, kindOpen)
	one.put(0, kindReports, sealed...)
	one.drain()
	if !bytes.Equal(one.bytes(), b.bytes()) {
		t.Error("the sum is not the sum of the reports that came once")
	}
}

// A member that takes a shard over, on an empty disk or on one that has older ids or ids of a
// snapshot that never came to be, counts what is missing and nothing again.
func TestATakeoverGoesOnFromTheSnapshot(t *testing.T) {
	b := newBench(t, 2)
	sealed := sealReports(t, b.round, 40)
	b.put(0, kindOpen)
	b.put(1, kindOpen)
	b.put(0, kindReports, sealed[:10]...)
	b.drain()
	b.must(b.save(t.Context()))
	older := b.other("older") // has the ids of the first snapshot
	b.must(older.load(t.Context()))
	b.must(b.load(t.Context()))
	b.put(1, kindReports, sealed[5:20]...)
	b.drain()
	b.must(b.save(t.Context()))
	b.put(0, kindReports, sealed[15:30]...) // no snapshot has these
	b.drain()
	strayed := b.other("strayed")
	b.must(strayed.ids.add(b.open.digest, objectName([]byte("unheard of")), []id{id(sealID(sealed[39]))}))
	for _, next := range []*bench{b.other("empty"), older, strayed} {
		b.must(next.load(t.Context()))
		if n := next.counted(); n != 20 {
			t.Errorf("%s begins with %d reports, the snapshot has 20", next.holder, n)
		}
		next.drain()
		if n := next.counted(); n != 30 {
			t.Errorf("%s counts %d reports, there are 30", next.holder, n)
		}
		if !bytes.Equal(next.bytes(), b.bytes()) {
			t.Errorf("the sum of %s is another one", next.holder)
		}
	}
	b.put(0, kindReports, sealed...)
	strayed.drain()
	if n := strayed.counted(); n != 40 {
		t.Errorf("%d reports counted in the end, there are 40", n)
	}
}

func sealID(sealed []byte) []byte {
	whole := seal.ID(sealed)
	return whole[:idBytes]
}

// A member that was replaced cannot write a snapshot any more, and reads on when it loads again.
func TestAReplacedMemberCannotWrite(t *testing.T) {
	b := newBench(t, 1)
	sealed := sealReports(t, b.round, 4)
	b.put(0, kindOpen)
	b.drain()
	b.must(b.save(t.Context()))
	second := b.other("second")
	b.must(second.load(t.Context()))
	b.put(0, kindReports, sealed...)
	b.drain()
	if err := b.save(t.Context()); !errors.Is(err, errFenced) {
		t.Errorf("the replaced member wrote a snapshot: %v", err)
	}
	second.drain()
	b.must(second.save(t.Context()))
	b.must(b.load(t.Context()))
	if n := b.counted(); n != 4 {
		t.Errorf("%d reports after loading again, there are 4", n)
	}
}

// A snapshot whose answer was lost is there all the same, and is not taken for another member's.
func TestAManifestWhoseAnswerWasLostCounts(t *testing.T) {
	b := newBench(t, 1)
	data, err := manifest{Holder: b.holder, Positions: []uint64{0}}.marshal()
	b.must(err)
	before := b.revision
	b.must(b.replace(t.Context(), data))
	b.revision = before
	if err := b.replace(t.Context(), data); err != nil || b.revision == before {
		t.Errorf("revision %d after %d, %v", b.revision, before, err)
	}
}

// What a snapshot covers leaves the streams. What the round had leaves the object store when all
// lanes have said that it has ended.
func TestNothingIsKeptThatIsNotNeeded(t *testing.T) {
	b := newBench(t, 2)
	sealed := sealReports(t, b.round, 20)
	left := func() (messages uint64, objects int) {
		for _, lane := range b.lanes {
			messages += b.has(lane).Msgs
		}
		list, err := b.snapshots.List(t.Context())
		if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
			t.Fatal(err)
		}
		return messages, len(list)
	}
	b.put(0, kindOpen)
	b.put(1, kindOpen)
	for i := range 3 {
		b.put(i%2, kindReports, sealed[5*i:5*i+5]...)
		b.drain()
		b.must(b.save(t.Context()))
		b.cleaner.wait()
	}
	if messages, objects := left(); messages != 0 || objects != 4 {
		t.Errorf("%d messages and %d objects are left, want none, and a sum and three segments", messages, objects)
	}
	b.put(0, kindEnd)
	b.drain()
	if b.tallies[b.open.digest] == nil {
		t.Error("the round is gone after one lane said so")
	}
	b.put(1, kindReports, sealed[15:]...) // too late, and harmless
	b.put(1, kindEnd)
	b.drain()
	b.must(b.save(t.Context()))
	b.cleaner.wait()
	if messages, objects := left(); messages != 0 || objects != 0 || len(b.tallies) != 0 {
		t.Errorf("%d messages, %d objects and %d rounds are left", messages, objects, len(b.tallies))
	}
	if head, err := b.ids.head(b.open.digest); head != "" || err != nil {
		t.Errorf("ids of the round are left: %q, %v", head, err)
	}
}

// Messages of strangers change nothing and stop nothing.
func TestStrangeMessagesAreIgnored(t *testing.T) {
	b := newBench(t, 1)
	sealed := sealReports(t, b.round, 6)
	for _, data := range [][]byte{
		nil, []byte("?"), make([]byte, headerBytes), message{kindOpen, b.open.digest, []byte("no round")}.marshal(),
		message{kindReports, [32]byte{7}, sealed[0]}.marshal(),
	} {
		b.publish(0, data)
	}
	b.put(0, kindOpen)
	b.put(0, kindReports, []byte("cut off"))
	spoilt := bytes.Clone(sealed[5])
	spoilt[40] ^= 1
	b.put(0, kindReports, append(sealed[:5:5], spoilt)...)
	b.drain()
	if got := b.tallies[b.open.digest]; got.reports != 5 || got.rejected != 1 {
		t.Errorf("%d reports counted and %d rejected, want 5 and 1", got.reports, got.rejected)
	}
}

// A round whose key or mechanism this member does not have stops the shard: its reports are not
// passed over.
func TestAShardWaitsForWhatItNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*fl.Round)
		want  string
	}{
		"key":       {func(r *fl.Round) { r.SealKey = testRound(t, nil).SealKey }, seal.ErrNoKey.Error()},
		"mechanism": {func(r *fl.Round) { r.Mechanism = "unheard-of" }, `mechanism: got "unheard-of"`},
	} {
		b := newBench(t, 1)
		c.spoil(&b.round)
		var err error
		b.open, err = openMessage(b.round)
		b.must(err)
		b.put(0, kindOpen)
		if err := b.work(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if b.saved[0] != 0 {
			t.Errorf("%s: the snapshot is past the round", name)
		}
	}
}

// A member that leaves takes a last snapshot: the next one has nothing to read again.
func TestALeavingMemberTakesASnapshot(t *testing.T) {
	b := newBench(t, 1)
	b.put(0, kindOpen)
	b.put(0, kindReports, sealReports(t, b.round, 3)...)
	b.drain()
	ended, end := context.WithCancel(t.Context())
	end()
	b.leave(ended)
	next := b.other("next")
	b.must(next.load(t.Context()))
	if n := next.counted(); n != 3 {
		t.Errorf("the next member begins with %d reports, there are 3", n)
	}
}

// A shard works until its context ends, and leaves what it has read.
func TestAShardWorksUntilItIsStopped(t *testing.T) {
	b := newBench(t, 1)
	b.every = 10 * time.Millisecond
	b.put(0, kindOpen)
	b.put(0, kindReports, sealReports(t, b.round, 3)...)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.work(ctx) }()
	for counted := int64(0); counted < 3; {
		if status, err := b.Status(t.Context()); err == nil {
			counted = status[0].Reports
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A leader that was replaced does not end the rounds of the new one.
func TestAnOldLeaderEndsNoRounds(t *testing.T) {
	b := newBench(t, 2)
	old, _ := newState(t, b.Cluster)
	former := newCounters(b.Cluster, b.keys, old.confirm)
	_, _ = newState(t, b.Cluster)
	b.put(0, kindOpen) // the new leader's
	b.put(1, kindOpen)
	b.drain()
	b.must(b.save(t.Context()))
	former.look(t.Context())
	b.drain()
	if b.tallies[b.open.digest] == nil {
		t.Error("the round has ended")
	}
	current, _ := newState(t, b.Cluster)
	now := newCounters(b.Cluster, b.keys, current.confirm)
	now.look(t.Context())
	b.drain()
	if b.tallies[b.open.digest] != nil {
		t.Error("the leader did not end a round that nobody knows")
	}
}
