package reportfile_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/reportfile"
)

func round(id string) fl.Round {
	return fl.Round{ID: id, Mechanism: "any", Dim: 3, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1}}
}

// write returns a file with the given reports.
func write(t testing.TB, r fl.Round, reports ...string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := reportfile.NewWriter(&file, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range reports {
		if err := w.Write([]byte(report)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// read returns the reports of a file and the error that ended it, nil for io.EOF.
func read(data []byte, r fl.Round) (reports []string, err error) {
	file, err := reportfile.NewReader(bytes.NewReader(data), r)
	if err != nil {
		return nil, err
	}
	for {
		report, err := file.Next()
		if errors.Is(err, io.EOF) {
			return reports, nil
		}
		if err != nil {
			return reports, err
		}
		reports = append(reports, string(report))
	}
}

func TestRoundTrip(t *testing.T) {
	long := string(make([]byte, 100_000))
	data := write(t, round("r"), "a", "", long, "bc")
	got, err := read(data, round("r"))
	if err != nil || len(got) != 4 || got[0] != "a" || got[1] != "" || got[2] != long || got[3] != "bc" {
		t.Errorf("read %d reports, error %v", len(got), err)
	}
	if got, err := read(write(t, round("r")), round("r")); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %d reports, error %v", len(got), err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	data := write(t, round("r"), "abc")
	for what, c := range map[string][]byte{
		"empty": nil, "text": []byte("not a file of reports, although it is long enough for one"),
		"head": data[:39], "another round": write(t, round("s"), "abc"),
	} {
		_, err := read(c, round("r"))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "file" {
			t.Errorf("%s: error %v, want a ParamError for file", what, err)
		}
	}
}

// A file that was cut or damaged gives the reports before the damage and then an error.
func TestDamage(t *testing.T) {
	data := write(t, round("r"), "abc", "def")
	for what, c := range map[string]struct {
		data    []byte
		reports int
	}{
		"cut report":  {data[:len(data)-1], 1},
		"cut length":  {append(bytes.Clone(data), 0x80), 2},
		"long length": {append(bytes.Clone(data), 0xff, 0xff, 0xff, 0xff, 0x7f), 2},
		"lie":         {append(bytes.Clone(data), 0xff, 0xff, 0xff, 0x1f), 2},
	} {
		got, err := read(c.data, round("r"))
		if err == nil || errors.Is(err, io.EOF) || len(got) != c.reports {
			t.Errorf("%s: %d reports and error %v, want %d and an error", what, len(got), err, c.reports)
		}
	}
}

func TestAReportTooLongIsNotWritten(t *testing.T) {
	w, err := reportfile.NewWriter(io.Discard, round("r"))
	if err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if err := w.Write(make([]byte, reportfile.MaxReportBytes+1)); !errors.As(err, &p) || p.Param != "report" {
		t.Errorf("error %v, want a ParamError for report", err)
	}
}

func FuzzRead(f *testing.F) {
	whole := write(f, round("r"), "abc", "")
	f.Add(whole)
	f.Add(whole[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		reports, err := read(data, round("r"))
		total := 0
		for _, r := range reports {
			total += len(r)
		}
		if total > len(data) {
			t.Fatalf("%d bytes of reports in a file of %d", total, len(data))
		}
		if err == nil && len(data) > 0 {
			again, err := read(write(t, round("r"), reports...), round("r"))
			if err != nil || len(again) != len(reports) {
				t.Fatalf("written again: %d of %d reports, error %v", len(again), len(reports), err)
			}
		}
	})
}
