package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The files hold the last accuracy and every row as it was.
func TestFilesHoldWhatWasMeasured(t *testing.T) {
	var r result
	r.add(historyRow{Round: 1, Accuracy: 0.75, Loss: 1.5, Reports: 300, Bytes: 2100, Seconds: 0.25}, expense{})
	r.add(historyRow{Round: 2, Accuracy: 0.8125, Loss: 1.25, Reports: 301, Bytes: 2107, Seconds: 1.0625}, expense{})
	r.add(historyRow{Round: 3, Accuracy: 0.78125, Loss: 1.375, Reports: 302, Bytes: 2114, Seconds: 2}, expense{})
	dir := t.TempDir()
	csvPath, jsonPath := filepath.Join(dir, "history.csv"), filepath.Join(dir, "summary.json")
	if err := r.writeHistory(csvPath); err != nil {
		t.Fatal(err)
	}
	if err := r.writeSummary(jsonPath); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(csvPath)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	want := [][]string{
		{"round", "accuracy", "loss", "reports", "bytes", "epsilon_central", "seconds"},
		{"1", "0.75", "1.5", "300", "2100", "", "0.250"},
		{"2", "0.8125", "1.25", "301", "2107", "", "1.062"},
		{"3", "0.78125", "1.375", "302", "2114", "", "2.000"},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("history.csv is %v, %v, want %v", rows, err, want)
	}
	var summary struct {
		Accuracy float64  `json:"test_accuracy"`
		Local    *float64 `json:"epsilon_local"`
		Central  *float64 `json:"epsilon_central"`
	}
	raw, err := os.ReadFile(jsonPath)
	if err == nil {
		err = json.Unmarshal(raw, &summary)
	}
	if err != nil || summary.Accuracy != 0.78125 || summary.Local != nil || summary.Central != nil {
		t.Errorf("summary.json is %s, %v, want the last accuracy 0.78125 and no privacy", raw, err)
	}
}

// What a run promises and costs is what its mechanism says, for the cohort that
// is shuffled together and the δ of the flags.
func TestThePromiseIsTheMechanismsOwn(t *testing.T) {
	for _, mechanism := range []string{"coco", "collision"} {
		c, data := small(t, mechanism)
		c.delta, c.epsilon, c.sparsity = 1e-4, 2, 20
		model, err := c.modelOn(data.Train)
		if err != nil {
			t.Fatal(err)
		}
		got, spent, err := promise(c, model, data)
		if err != nil {
			t.Fatal(err)
		}
		after, err := spent.after(c, c.rounds)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fl.Complete(c.round(0, model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.(fl.SparseMechanism).Central(c.cohort, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if after.central == nil || *after.central != want || after.participations != 1 || got.EpsilonLocal == nil || *got.EpsilonLocal != 2 {
			t.Errorf("%s: ε is %v locally and %+v centrally, want 2 and %g", mechanism, got.EpsilonLocal, after, want)
		}
		if want := float64(m.(fl.SparseMechanism).ReportBytes()); got.BytesPerReport != want {
			t.Errorf("%s: %g bytes per report, want %g", mechanism, got.BytesPerReport, want)
		}
		if got.Delta != 1e-4 || got.Cohort != 300 || got.Clients != 900 || got.Rounds != 3 || got.Sparsity != 20 || got.Dim != model.Dim() {
			t.Errorf("%s: the promise is %+v", mechanism, got)
		}
	}
}
