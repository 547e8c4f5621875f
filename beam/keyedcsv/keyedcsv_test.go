package keyedcsv

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/beam/ranges"
	"github.com/hushgrad/hushgrad/fl"
)

// row is a line for a report of round number n.
func row(n int, report, more string) string {
	return fmt.Sprintf("%064x,%s%s\n", n, base64.StdEncoding.EncodeToString([]byte(report)), more)
}

// read returns the reports of all ranges.
func read(t testing.TB, data []byte) []Report {
	t.Helper()
	found, ids, err := Scan(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var all []Report
	for _, g := range found.Ranges {
		reports, err := Read(bytes.NewReader(data[g.Offset:]), g, ids)
		if err != nil {
			t.Fatal(err)
		}
		if len(reports) != g.Reports {
			t.Errorf("%d reports in a range of %d", len(reports), g.Reports)
		}
		all = append(all, reports...)
	}
	if found.Reports != int64(len(all)) || found.Digest != sha256.Sum256(data) {
		t.Errorf("%+v, want %d reports", found, len(all))
	}
	return all
}

// The ranges of a file hold its lines in their order, whatever their ends, and where they are.
func TestRangesHoldTheLines(t *testing.T) {
	const lines = 40_000 // several ranges
	var text bytes.Buffer
	text.WriteString("round,report,id\r\n")
	var offsets []int64
	for i := range lines {
		offsets = append(offsets, int64(text.Len()))
		text.WriteString(row(i%3, fmt.Sprint("report ", i), fmt.Sprintf(",id%d%s", i, strings.Repeat("\r", i%2))))
	}
	for i, r := range read(t, text.Bytes()) {
		if r.Round[31] != byte(i%3) || string(r.Report) != fmt.Sprint("report ", i) || r.ID != fmt.Sprint("id", i) || r.Offset != offsets[i] {
			t.Fatalf("line %d at byte %d: %+v", i, offsets[i], r)
		}
	}
	if got := read(t, []byte("round,report\n"+row(1, "", ""))); len(got) != 1 || got[0].ID != "" || len(got[0].Report) != 0 {
		t.Errorf("an empty report: %+v", got)
	}
	if got := read(t, []byte("round,report\n")); len(got) != 0 {
		t.Errorf("no report: %+v", got)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	good := row(1, "a", "")
	for name, c := range map[string]struct {
		text  string
		at    int // the byte
		param string
	}{
		"no header":      {good, 0, "header"},
		"another header": {"report,round\n" + good, 0, "header"},
		"cut":            {"round,report\n" + good[:20], 13, "file"},
		"values":         {"round,report\n" + good + row(1, "a", ",id"), 13 + len(good), "line"},
		"no id":          {"round,report,id\n" + row(1, "a", ","), 16, "id"},
		"long id":        {"round,report,id\n" + row(1, "a", ","+strings.Repeat("i", maxIDBytes+1)), 16, "id"},
		"short round":    {"round,report\n" + good[1:], 13, "round"},
		"round":          {"round,report\nx" + good[1:], 13, "round"},
		"base64":         {"round,report\n" + strings.Replace(good, "=", "", 1), 13, "report"},
		"stray bits":     {"round,report\n" + strings.Replace(good, "YQ==", "YR==", 1), 13, "report"},
		"an empty line":  {"round,report\n\n", 13, "line"},
	} {
		found, ids, err := Scan(strings.NewReader(c.text))
		if err == nil {
			_, err = Read(strings.NewReader(c.text[found.Ranges[0].Offset:]), found.Ranges[0], ids)
		}
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != c.param || !strings.HasPrefix(err.Error(), fmt.Sprintf("keyedcsv: at byte %d: ", c.at)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	text := "round,report\n" + good
	for name, g := range map[string]ranges.Range{"changed": {Bytes: 5}, "negative": {Bytes: -1}, "long": {Bytes: MaxRangeBytes + 1}} {
		var p *fl.ParamError
		if reports, err := Read(strings.NewReader(text), g, false); !errors.As(err, &p) || reports != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Whatever a file holds, it is refused or gives as many reports as it has lines.
func FuzzRead(f *testing.F) {
	f.Add([]byte("round,report\n" + row(1, "abc", "") + row(2, "", "")))
	f.Add([]byte("round,report,id\r\n" + row(1, "abc", ",x\r")))
	f.Add([]byte("round,report\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, ids, err := Scan(bytes.NewReader(data))
		if err != nil {
			return
		}
		if lines := bytes.Count(data, []byte("\n")); found.Reports != int64(lines-1) || data[len(data)-1] != '\n' {
			t.Fatalf("%d reports in %d lines", found.Reports, lines)
		}
		for _, g := range found.Ranges {
			if g.Offset < 0 || g.Offset+g.Bytes > int64(len(data)) {
				t.Fatalf("range %+v in %d bytes", g, len(data))
			}
			reports, err := Read(bytes.NewReader(data[g.Offset:]), g, ids)
			if err == nil && len(reports) != g.Reports {
				t.Fatalf("%d reports, want %d", len(reports), g.Reports)
			}
		}
	})
}
