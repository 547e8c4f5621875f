package ranges_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/beam/ranges"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
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
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// numbered returns n reports that differ, of about the given length.
func numbered(n, length int) []string {
	reports := make([]string, n)
	for i := range reports {
		reports[i] = fmt.Sprintf("%d%s", i, strings.Repeat("x", length+i%3))
	}
	return reports
}

// The ranges of a file hold all of its reports in their order, each range can be read alone, and
// a report's offset is where its length stands.
func TestRangesHoldTheReportsOfAFile(t *testing.T) {
	for name, want := range map[string][]string{
		"none": nil, "one": {""}, "one range": numbered(100, 10), "many ranges": numbered(30_000, 100), "longer than a range": numbered(3, ranges.RangeBytes+5),
	} {
		data := write(t, round("r"), want...)
		file, err := ranges.Scan(bytes.NewReader(data), round("r"))
		if err != nil || file.Reports != int64(len(want)) || file.Seeded || !bytes.Equal(file.Digest[:], data[len(data)-sha256.Size:]) {
			t.Fatalf("%s: %+v, error %v", name, file, err)
		}
		if most := len(data)/ranges.RangeBytes + 1; len(file.Ranges) > most || len(want) > 0 && len(file.Ranges) == 0 {
			t.Errorf("%s: %d ranges in %d bytes", name, len(file.Ranges), len(data))
		}
		var got []string
		for _, g := range file.Ranges {
			reports, offsets, err := g.Read(bytes.NewReader(data[g.Offset:]))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, r := range reports {
				got = append(got, string(r))
				if size, _ := binary.Uvarint(data[offsets[i]:]); size != uint64(len(r))+1 {
					t.Errorf("%s: the length at byte %d is %d, want %d", name, offsets[i], size, len(r)+1)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d reports in the ranges, want %d, or others", name, len(got), len(want))
		}
	}
}

// Scan refuses what Reader refuses, and says at which byte.
func TestScanRefusesDamagedFiles(t *testing.T) {
	data := write(t, round("r"), numbered(50_000, 50)...)
	for length := reportfile.HeadBytes; length < len(data); length += 100_003 {
		_, err := ranges.Scan(bytes.NewReader(data[:length]), round("r"))
		var p *fl.ParamError
		var report, at int
		if !errors.As(err, &p) || p.Param != "file" {
			t.Fatalf("%d of %d bytes: error %v", length, len(data), err)
		}
		if _, scan := fmt.Sscanf(err.Error(), "reportfile: report %d, at byte %d:", &report, &at); scan != nil || at > length || at < length-60 {
			t.Errorf("%d of %d bytes: error %v", length, len(data), err)
		}
	}
	damaged := bytes.Clone(data)
	damaged[len(data)/2] ^= 1
	if _, err := ranges.Scan(bytes.NewReader(damaged), round("r")); err == nil {
		t.Error("a damaged file was scanned")
	}
	if _, err := ranges.Scan(bytes.NewReader(data), round("s")); err == nil {
		t.Error("a file of another round was scanned")
	}
}

// A range whose bytes are not the scan's gives no report.
func TestARangeThatChangedIsRefused(t *testing.T) {
	data := write(t, round("r"), numbered(20_000, 100)...)
	file, err := ranges.Scan(bytes.NewReader(data), round("r"))
	if err != nil {
		t.Fatal(err)
	}
	g := file.Ranges[1]
	at := data[g.Offset:]
	changed := bytes.Clone(at)
	changed[7] ^= 1
	for name, c := range map[string]struct {
		g    ranges.Range
		data []byte
	}{
		"a changed byte": {g, changed}, "cut": {g, at[:100]}, "elsewhere": {g, at[1:]},
		"a count":  {ranges.Range{Offset: g.Offset, Bytes: g.Bytes, Reports: g.Reports + 1, Digest: g.Digest}, at},
		"too long": {ranges.Range{Offset: g.Offset, Bytes: 1 << 60}, at}, "negative": {ranges.Range{Offset: g.Offset, Bytes: -1}, at},
		"a cut report": {ranges.Range{Offset: g.Offset, Bytes: 50, Digest: sha256.Sum256(at[:50])}, at},
	} {
		reports, _, err := c.g.Read(bytes.NewReader(c.data))
		var p *fl.ParamError
		if !errors.As(err, &p) || reports != nil || !strings.Contains(err.Error(), fmt.Sprintf("at byte %d: ", g.Offset)) {
			t.Errorf("%s: %d reports, error %v", name, len(reports), err)
		}
	}
}

// Whatever a range announces and the file holds, Read returns either its reports or an error.
func FuzzReadRange(f *testing.F) {
	body := []byte("\x04abc\x01\x03de")
	f.Add(body, int64(len(body)), 3, true)
	f.Add(body, int64(4), 1, true)
	f.Add(body, int64(1)<<40, 1, false)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), int64(10), 1, true)
	f.Fuzz(func(t *testing.T, data []byte, size int64, count int, honest bool) {
		g := ranges.Range{Bytes: size, Reports: count}
		if honest && size >= 0 && size <= int64(len(data)) {
			g.Digest = sha256.Sum256(data[:size])
		}
		reports, offsets, err := g.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		total := 0
		for i, r := range reports {
			if offsets[i] != int64(total) {
				t.Fatalf("report %d is at %d, want %d", i, offsets[i], total)
			}
			used := int64(size)
			if i+1 < len(offsets) {
				used = offsets[i+1]
			}
			if total = int(used); len(r) >= total {
				t.Fatalf("report %d has %d of %d bytes", i, len(r), total)
			}
		}
		if len(reports) != count || int64(total) != size {
			t.Fatalf("%d reports in %d bytes, want %d in %d", len(reports), total, count, size)
		}
	})
}
