package count_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// letters is a State that counts reports of one byte below 4.
type letters struct{ counts [4]uint64 }

func (l *letters) Read(report []byte) (byte, error) {
	if len(report) != 1 {
		return 0, count.BadReport("length", len(report), "must be 1 byte")
	}
	if report[0] >= 4 {
		return 0, count.BadReport("letter", report[0], "must be below 4")
	}
	return report[0], nil
}

func (l *letters) Count(letter byte) { l.counts[letter]++ }

func (l *letters) Merge(other *letters) {
	for i, n := range other.counts {
		l.counts[i] += n
	}
}

func (l *letters) Estimate(reports int64) (*fl.Estimate, error) {
	if l.counts[3] > 0 {
		return nil, fl.Invalid("letters", 3, "must be below 3 in an estimate")
	}
	return &fl.Estimate{Reports: reports}, nil
}

func (l *letters) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(payload, uint64(reports))
	for _, n := range l.counts {
		payload = binary.AppendUvarint(payload, n)
	}
	return payload
}

func (l *letters) MaxBytes() int { return 50 }

func (l *letters) Restore(p *count.Payload) int64 {
	reports := p.Reports()
	for i := range l.counts {
		l.counts[i] = p.Uvarint(uint64(reports))
	}
	return reports
}

func round(id string) fl.Round {
	return fl.Round{
		ID: id, Mechanism: "letters", Dim: 1, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}
}

func open(t testing.TB, id string) *count.Aggregator[byte, *letters] {
	t.Helper()
	r, err := count.NewRound(round(id))
	if err != nil {
		t.Fatal(err)
	}
	return count.New(r, func() *letters { return &letters{} })
}

// restored returns an aggregator with the given counts.
func restored(t testing.TB, reports int64, counts ...uint64) *count.Aggregator[byte, *letters] {
	t.Helper()
	l, agg := &letters{}, open(t, "a")
	copy(l.counts[:], counts)
	if err := agg.UnmarshalBinary(fltest.Snapshot(t, round("a"), l.Append(nil, reports))); err != nil {
		t.Fatal(err)
	}
	return agg
}

func snapshotOf(t testing.TB, a fl.Aggregator) []byte {
	t.Helper()
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func param(t *testing.T, what string, err error, want string) {
	t.Helper()
	var p *fl.ParamError
	if !errors.As(err, &p) || p.Param != want || !strings.HasPrefix(err.Error(), "letters: ") {
		t.Errorf("%s: %v, want a ParamError of letters for %s", what, err, want)
	}
}

func TestReportsAreCountedHoweverTheyCome(t *testing.T) {
	one, batch, left, right := open(t, "a"), open(t, "a"), open(t, "a"), open(t, "a")
	all := [][]byte{{0}, {1}, {1}, {2}, {0}, {1}}
	for i, report := range all {
		if err := errors.Join(one.Add(report), []*count.Aggregator[byte, *letters]{left, right}[i%2].Add(report)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(batch.AddBatch(all[:4]), batch.AddBatch(nil), batch.AddBatch(all[4:]), left.Merge(right)); err != nil {
		t.Fatal(err)
	}
	part := open(t, "a")
	if err := errors.Join(part.AddState(&letters{counts: [4]uint64{2, 3, 1}}, 6)); err != nil {
		t.Fatal(err)
	}
	for i, agg := range []*count.Aggregator[byte, *letters]{one, batch, left, part, restored(t, 6, 2, 3, 1)} {
		e, err := agg.Estimate()
		if err != nil || e.Reports != 6 || agg.State().counts != [4]uint64{2, 3, 1} || !bytes.Equal(snapshotOf(t, agg), snapshotOf(t, one)) {
			t.Errorf("way %d: %+v of %+v, %v", i, agg.State(), e, err)
		}
	}
	if right.State().counts != [4]uint64{0, 2, 1} {
		t.Errorf("what was merged has become %+v", right.State())
	}
}

func TestNothingOfARefusedReportIsCounted(t *testing.T) {
	agg := restored(t, 2, 1, 1)
	before := snapshotOf(t, agg)
	for want, report := range map[string][]byte{"length": {0, 0}, "letter": {4}} {
		err := agg.Add(report)
		param(t, "add", err, want)
		if !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x: %v, want ErrBadReport", report, err)
		}
		var batch *fl.BatchError
		if err := agg.AddBatch([][]byte{{0}, {1}, report, {4}}); !errors.As(err, &batch) || batch.Index != 2 || !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x in a batch: %v", report, err)
		} else {
			param(t, "batch", batch.Err, want)
		}
	}
	if !bytes.Equal(before, snapshotOf(t, agg)) {
		t.Error("a refused report has changed the aggregator")
	}
}

func TestAFullAggregatorTakesNoMore(t *testing.T) {
	full, one := restored(t, fl.MaxReports-1, 5), open(t, "a")
	if err := errors.Join(full.Add([]byte{0}), one.Add([]byte{0})); err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(t, full)
	param(t, "add", full.Add([]byte{0}), "reports")
	param(t, "batch", full.AddBatch([][]byte{{0}}), "reports")
	param(t, "merge", full.Merge(one), "reports")
	param(t, "merge with itself", full.Merge(full), "reports")
	param(t, "state", full.AddState(one.State(), math.MaxInt64), "reports")
	if !bytes.Equal(before, snapshotOf(t, full)) {
		t.Error("a report above the limit is counted")
	}
}

func TestOnlyTheSameRoundIsMerged(t *testing.T) {
	agg := restored(t, 1, 1)
	before := snapshotOf(t, agg)
	for what, other := range map[string]fl.Aggregator{
		"another round": open(t, "b"), "nothing": nil, "another type": struct{ fl.Aggregator }{open(t, "a")},
	} {
		param(t, what, agg.Merge(other), "aggregator")
	}
	if !bytes.Equal(before, snapshotOf(t, agg)) {
		t.Error("what was refused is merged")
	}
	if err := agg.Merge(agg); err != nil || agg.State().counts[0] != 2 {
		t.Errorf("merged with itself: %+v, %v", agg.State(), err)
	}
}

func TestEstimatesNeedReports(t *testing.T) {
	if _, err := open(t, "a").Estimate(); !errors.Is(err, fl.ErrNoReports) || err.Error() != "letters: estimate: no reports" {
		t.Errorf("%v, want ErrNoReports", err)
	}
	_, err := restored(t, 1, 0, 0, 0, 1).Estimate()
	param(t, "an estimate that fails", err, "letters")
}

func TestBadSnapshotsChangeNothing(t *testing.T) {
	agg := restored(t, 2, 1, 1)
	before := snapshotOf(t, agg)
	for want, payloads := range map[string][][]byte{
		"payload[0]": {nil, {0x80}, binary.AppendUvarint(nil, fl.MaxReports+1), bytes.Repeat([]byte{0xff}, 20)},
		"payload[1]": {{2}, {2, 3}, {2, 0x80}},
		"payload[4]": {{2, 0, 1, 0}, {2, 0, 0, 0, 3}},
		"payload":    {{2, 0, 1, 0, 0, 0}, make([]byte, 51)},
	} {
		for _, payload := range payloads {
			param(t, "a bad payload", agg.UnmarshalBinary(fltest.Snapshot(t, round("a"), payload)), want)
			if !bytes.Equal(before, snapshotOf(t, agg)) {
				t.Fatalf("% x: a refused snapshot has changed the aggregator to %+v", payload, agg.State())
			}
		}
	}
	param(t, "another round", agg.UnmarshalBinary(snapshotOf(t, open(t, "b"))), "round")
	param(t, "half a snapshot", agg.UnmarshalBinary(before[:20]), "length")
	if !bytes.Equal(before, snapshotOf(t, agg)) {
		t.Error("a refused snapshot has changed the aggregator")
	}
}

func BenchmarkAdd(b *testing.B) {
	agg, report := open(b, "a"), []byte{1}
	for i := 0; b.Loop(); i++ {
		if i%(fl.MaxReports/2) == 0 {
			agg = open(b, "a")
		}
		if err := agg.Add(report); err != nil {
			b.Fatal(err)
		}
	}
}

// What a round promises holds in an aggregator without a server, too.
func TestEstimatesNeedTheRoundsReports(t *testing.T) {
	r := round("a")
	r.MinReports = 3
	shared, err := count.NewRound(r)
	if err != nil {
		t.Fatal(err)
	}
	agg := count.New(shared, func() *letters { return &letters{} })
	for n := 1; n <= 4; n++ {
		if err := agg.Add([]byte{0}); err != nil {
			t.Fatal(err)
		}
		e, err := agg.Estimate()
		if n >= 3 {
			if err != nil || e.Reports != int64(n) {
				t.Errorf("%d reports: %v, %v", n, e, err)
			}
			continue
		}
		if !errors.Is(err, fl.ErrTooFewReports) || e != nil {
			t.Errorf("%d reports: %v, %v, want ErrTooFewReports", n, e, err)
		}
		param(t, "too few", err, "reports")
	}
}
