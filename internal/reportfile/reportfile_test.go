package reportfile_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

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
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(nil); err == nil {
		t.Error("a report was written after the trailer")
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
		"head": data[:56], "version 1": append([]byte("hgrpts1\n"), data[8:]...),
		"a wrong flag": append(append(bytes.Clone(data[:40]), 2), data[41:]...), "another round": write(t, round("s"), "abc"),
	} {
		_, err := reportfile.NewReader(bytes.NewReader(c), round("r"))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "file" {
			t.Errorf("%s: error %v, want a ParamError for file", what, err)
		}
	}
}

// trailerBytes is the length of the trailer: a zero, a count and a digest.
const trailerBytes = 1 + 8 + 32

// A file that was cut anywhere, also between two reports, is refused.
func TestACutFileIsRefused(t *testing.T) {
	data := write(t, round("r"), "abc", "", "def")
	for length := range data {
		var p *fl.ParamError
		if got, err := read(data[:length], round("r")); !errors.As(err, &p) || p.Param != "file" {
			t.Errorf("the first %d of %d bytes: %d reports and error %v, want a ParamError for file", length, len(data), len(got), err)
		}
	}
}

// A file with any bit changed is refused, at the latest when it ends.
func TestADamagedFileIsRefused(t *testing.T) {
	data := write(t, round("r"), "abc", "", "def")
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		if got, err := read(damaged, round("r")); err == nil {
			t.Errorf("byte %d of %d is wrong: %d reports and no error", i, len(data), len(got))
		}
	}
	reports := data[:len(data)-trailerBytes]
	for what, end := range map[string]string{
		"cut length": "\x80", "long length": "\xff\xff\xff\xff\x7f", "a lie": "\xff\xff\xff\x1f", "bytes after the trailer": string(data[len(reports):]) + "x",
	} {
		file, err := reportfile.NewReader(bytes.NewReader(append(bytes.Clone(reports), end...)), round("r"))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := file.Next(); err != nil {
				t.Fatal(err)
			}
		}
		_, first := file.Next()
		if _, again := file.Next(); first == nil || errors.Is(first, io.EOF) || again != first {
			t.Errorf("%s: error %v and then %v, want the same error twice", what, first, again)
		}
	}
}

// Two files of the same reports have digests of their own, unless their reports were seeded;
// and the reader knows which were.
func TestDigestAndSeed(t *testing.T) {
	identify := func(new func(io.Writer, fl.Round) (*reportfile.Writer, error)) (digest [32]byte, seeded bool) {
		var data bytes.Buffer
		w, err := new(&data, round("r"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write([]byte("abc")), w.Close()); err != nil {
			t.Fatal(err)
		}
		file, err := reportfile.NewReader(&data, round("r"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Next(); err != nil || file.Digest() != digest {
			t.Errorf("error %v, digest %x before the end", err, file.Digest())
		}
		if _, err := file.Next(); !errors.Is(err, io.EOF) || file.Digest() == digest {
			t.Errorf("error %v, digest %x at the end", err, file.Digest())
		}
		return file.Digest(), file.Seeded()
	}
	first, firstSeeded := identify(reportfile.NewWriter)
	second, _ := identify(reportfile.NewWriter)
	if first == second || firstSeeded {
		t.Errorf("digests %x and %x, seeded: %t", first, second, firstSeeded)
	}
	first, firstSeeded = identify(reportfile.NewSeededWriter)
	second, secondSeeded := identify(reportfile.NewSeededWriter)
	if first != second || !firstSeeded || !secondSeeded {
		t.Errorf("seeded reports: digests %x and %x, seeded: %t and %t", first, second, firstSeeded, secondSeeded)
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
		if err == nil {
			again, err := read(write(t, round("r"), reports...), round("r"))
			if err != nil || len(again) != len(reports) {
				t.Fatalf("written again: %d of %d reports, error %v", len(again), len(reports), err)
			}
		}
	})
}

func TestRoundOfAFile(t *testing.T) {
	want, err := round("r").Digest()
	if err != nil {
		t.Fatal(err)
	}
	data := write(t, round("r"), "abc")
	if got, err := reportfile.RoundOf(data[:reportfile.HeadBytes]); err != nil || got != want {
		t.Errorf("digest %x, error %v, want %x", got, err, want)
	}
	for _, head := range [][]byte{nil, data[:reportfile.HeadBytes-1], make([]byte, reportfile.HeadBytes)} {
		var p *fl.ParamError
		if _, err := reportfile.RoundOf(head); !errors.As(err, &p) || p.Param != "file" {
			t.Errorf("%d bytes: error %v", len(head), err)
		}
	}
}
