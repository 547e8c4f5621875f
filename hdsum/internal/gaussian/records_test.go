package gaussian

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// recordRound is a round of sites that have at most 40 records together.
func recordRound(dim int) fl.Round {
	r := testRound(dim)
	r.Params = fl.Params{fl.ParamRecords: fl.Int(40)}
	return r
}

// reportOf returns the report of a site with a number of records, all with one gradient.
func reportOf(t testing.TB, m fl.RecordMechanism, seed byte, records int, grad []float64) []byte {
	t.Helper()
	s, err := m.NewRecordSum(newRand(seed))
	if err != nil {
		t.Fatal(err)
	}
	for range records {
		if err := s.Add(grad); err != nil {
			t.Fatal(err)
		}
	}
	report, err := s.Append([]byte{7})
	if err != nil || report[0] != 7 || s.Records() != records {
		t.Fatalf("%d records, %v", s.Records(), err)
	}
	return report[1:]
}

func TestRoundsOfRecordsKeepTheContract(t *testing.T) {
	r := recordRound(3)
	r.Params = fl.Params{fl.ParamRecords: fl.Int(5000)} // more than the reports that are tried
	r, _, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
		t.Error(err)
	}
}

// Three sites with 5, 1 and 30 records: the mean is over 36 records, not over three sites, and so is its error. 40 normal
// variables are all within 6 standard errors but with probability 8e-8.
func TestTheMeanIsOverRecords(t *testing.T) {
	m := open(t, recordRound(20))
	sides, whole := newServers(t, m), m.NewAggregator()
	want := make([]float64, 20)
	for i, records := range []int{5, 1, 30} {
		grad := make([]float64, 20)
		grad[i], grad[10+i] = 1, -0.5
		for j, v := range grad {
			want[j] += v * float64(records) / 36
		}
		report := reportOf(t, m, byte(40+i), records, grad)
		if err := whole.Add(report); err != nil {
			t.Fatal(err)
		}
		head := m.ShareBytes(fl.FirstServer)
		sides.add(t, []byte{byte(i)}, report[:head], report[head:])
	}
	one, err := whole.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	two, err := m.Combine(sides.release(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*fl.Estimate{"two servers": two, "one": one} {
		if e.Reports != 3 || e.Records != 36 {
			t.Errorf("%s: %d records in %d reports, want 36 in 3", name, e.Records, e.Reports)
		}
		mean := e.Mean()
		for j, v := range mean.Value {
			if !(math.Abs(v-want[j]) <= 6*mean.StdErr[j]) || mean.StdErr[j] != m.StandardError(36, 36) {
				t.Errorf("%s, coordinate %d: %g ± %g, want %g ± %g", name, j, v, mean.StdErr[j], want[j], m.StandardError(36, 36))
			}
		}
	}
}

// A round about records has the noise of a round about clients, which one record changes as much as a client.
// A mean over 40 records has the error of a mean over 40 clients.
func TestRecordsHaveTheNoiseOfClients(t *testing.T) {
	records, clients := open(t, recordRound(20)), open(t, testRound(20))
	if records.Guarantee() != clients.Guarantee() || records.StandardError(40, 40) != clients.StandardError(40, 40) {
		t.Errorf("%v and %g, want %v and %g", records.Guarantee(), records.StandardError(40, 40), clients.Guarantee(), clients.StandardError(40, 40))
	}
}

// Whatever a record is, it moves the sum by no more than B, which the proof needs. A gradient without numbers is
// the zero vector, and is counted.
func TestARecordIsBoundedByItself(t *testing.T) {
	m := open(t, recordRound(5))
	for name, grad := range map[string][]float64{
		"long": {1e300, -1e300, 1e300, 0, 1}, "just C": {2, 0, 0, 0, 0}, "short": {1e-300, 0, 0, 0, 0},
		"NaN": {1, math.NaN(), 1, 1, 1}, "infinite": {math.Inf(1), 0, 0, 0, 0}, "infinite and NaN": {math.Inf(-1), math.NaN(), 0, 0, 0},
	} {
		made, err := m.NewRecordSum(newRand(3))
		if err != nil {
			t.Fatal(err)
		}
		s := made.(*recordSum)
		for range 40 {
			before := append([]int64{}, s.sum...)
			if err := s.Add(grad); err != nil {
				t.Fatal(err)
			}
			moved := int64(0)
			for i, v := range s.sum {
				moved += (v - before[i]) * (v - before[i])
			}
			if numbers := !math.IsNaN(grad[1]) && !math.IsInf(grad[0], 0); moved > m.integers.most || !numbers && moved != 0 || numbers && grad[0] > 1 && moved == 0 {
				t.Errorf("%s: a record moves the sum by √%d, at most √%d", name, moved, m.integers.most)
			}
		}
		if s.Records() != 40 {
			t.Errorf("%s: %d records, want 40", name, s.Records())
		}
		if err := s.Add(grad); !isParam(err, fl.ParamRecords) {
			t.Errorf("%s: 41 records of 40: %v", name, err)
		}
	}
}

func isParam(err error, name string) bool {
	p, ok := errors.AsType[*fl.ParamError](err)
	return ok && p.Param == name
}

func TestASumIsOneReport(t *testing.T) {
	m := open(t, recordRound(5))
	s, err := m.NewRecordSum(nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Append([]byte{1}); !isParam(err, fl.ParamRecords) || len(out) != 1 {
		t.Errorf("a report of no record: %v", err)
	}
	if err := s.Add([]float64{1}); !isParam(err, "gradient") || s.Records() != 0 {
		t.Errorf("a short gradient: %v", err)
	}
	if err := s.Add(make([]float64, 5)); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Append(nil); err != nil || len(out) != m.ReportBytes() {
		t.Errorf("%d bytes, want %d: %v", len(out), m.ReportBytes(), err)
	}
	if out, err := s.Append([]byte{1}); !isParam(err, fl.ParamRecords) || len(out) != 1 {
		t.Errorf("a second report of a sum: %v", err)
	}
	if _, err := open(t, testRound(5)).NewRecordSum(nil); !isParam(err, fl.ParamRecords) {
		t.Errorf("a sum in a round about clients: %v", err)
	}
	for _, n := range []int{0, -1, 1 << 32} {
		r := recordRound(5)
		r.Params = fl.Params{fl.ParamRecords: fl.Int(n)}
		if _, err := fl.Open(r); !isParam(err, fl.ParamRecords) {
			t.Errorf("%d records: %v", n, err)
		}
	}
}

// Each server reads the number of records in its own share.
func TestNumbersOfRecordsAreChecked(t *testing.T) {
	m := open(t, recordRound(5))
	head := m.ShareBytes(fl.FirstServer)
	good := reportOf(t, m, 1, 4, make([]float64, 5))
	for _, n := range []uint32{0, 41, math.MaxUint32} {
		for _, at := range []int{0, head} {
			bad := bytes.Clone(good)
			binary.LittleEndian.PutUint32(bad[at:], n)
			side, share := fl.FirstServer, bad[:head]
			if at > 0 {
				side, share = fl.SecondServer, bad[head:]
			}
			if err := newServer(t, m, side).Add([]byte{1}, share); !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("server %d takes %d records: %v", side, n, err)
			}
			if err := m.NewAggregator().Add(bad); !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("%d records at byte %d: %v", n, at, err)
			}
		}
	}
	other := bytes.Clone(good)
	binary.LittleEndian.PutUint32(other[head:], 5)
	if err := m.NewAggregator().Add(other); !errors.Is(err, fl.ErrBadReport) {
		t.Errorf("shares of 4 and 5 records: %v", err)
	}
	s := newServers(t, m)
	for i := range 3 {
		s.add(t, []byte{byte(i)}, good[:head], other[head:])
	}
	if _, err := m.Combine(s.release(t)); !errors.Is(err, fl.ErrUnmatched) || !isParam(err, fl.ParamRecords) {
		t.Errorf("sums of 12 and 15 records: %v", err)
	}
	// As many as the round has room for, and one more.
	most := newServers(t, m)
	for i, records := range []int{20, 19, 1, 1} {
		if i == 3 {
			if e, err := m.Combine(most.release(t)); err != nil || e.Records != 40 {
				t.Errorf("40 records: %v, %v", e, err)
			}
		}
		report := reportOf(t, m, byte(i), records, make([]float64, 5))
		most.add(t, []byte{byte(i)}, report[:head], report[head:])
	}
	if _, err := m.Combine(most.release(t)); !isParam(err, fl.ParamRecords) {
		t.Errorf("41 records: %v", err)
	}
}

// Snapshots keep the number of records, of shards, too.
func TestSnapshotsKeepTheRecords(t *testing.T) {
	m := open(t, recordRound(5))
	head := m.ShareBytes(fl.FirstServer)
	shards, restored := newServers(t, m), newServers(t, m)
	for i, records := range []int{4, 9, 2} {
		report := reportOf(t, m, byte(i), records, make([]float64, 5))
		shards.add(t, []byte{byte(i)}, report[:head], report[head:])
	}
	for _, pair := range [][2]fl.ShareAggregator{{shards.first, restored.first}, {shards.second, restored.second}} {
		if err := pair[1].UnmarshalBinary(marshalled(t, pair[0])); err != nil {
			t.Fatal(err)
		}
		if err := pair[1].Merge(pair[0]); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := m.Combine(restored.release(t)); err != nil || e.Records != 30 || e.Reports != 6 {
		t.Errorf("%+v, %v, want 30 records in 6 reports", e, err)
	}
	payload := payloadOf(t, m, marshalled(t, shards.second))
	payload[2] = 2 // records, fewer than the 3 reports
	data, err := m.round.Snapshot(payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.second.UnmarshalBinary(data); !isParam(err, fl.ParamRecords) {
		t.Errorf("2 records in 3 reports: %v", err)
	}
}
