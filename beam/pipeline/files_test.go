package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

// stream is a file system without offsets, as object stores are.
type stream struct{ filesystem.Interface }

func (s stream) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	opened.Add(1)
	in, err := s.Interface.OpenRead(ctx, strings.TrimPrefix(name, "stream://"))
	return struct{ io.ReadCloser }{in}, err
}

var opened atomic.Int64

func init() {
	filesystem.Register("stream", func(ctx context.Context) filesystem.Interface {
		return stream{local.New(ctx)}
	})
}

// A file that can be read from its beginning only is opened twice, to scan it and to read it.
func TestAStreamIsReadTwice(t *testing.T) {
	w := newWorld(t, "w", 500_000)
	out, err := run(t, []fl.Round{w.Round}, "stream://"+w.write(t, 0, 500_000, false))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, filepath.Join(out, "w"), w.estimate(t, 0, 500_000, 0))
	if n := opened.Load(); n != 2 {
		t.Errorf("it was opened %d times", n)
	}
}

// What is wrong with a file is an error with its name and a byte, and there are no results.
func TestBadFilesAreErrors(t *testing.T) {
	w, other := newWorld(t, "w", 1000), newWorld(t, "other", 10)
	good := w.write(t, 0, 1000, false)
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(data)
	damaged[len(damaged)/2] ^= 1
	wrongReport := func() string {
		w := &world{Round: w.Round, Mechanism: w.Mechanism, reports: append(slices.Clone(w.reports[:10]), []byte("no report of it"))}
		return w.write(t, 0, 11, false)
	}()
	size := len(w.reports[0]) + 1
	for name, c := range map[string]struct{ file, want string }{
		"cut":            {file(t, data[:reportfile.HeadBytes+7*size+3], nil), fmt.Sprintf("report 7, at byte %d: ", reportfile.HeadBytes+7*size)},
		"cut in front":   {file(t, data[:20], nil), "must begin with"},
		"damaged":        {file(t, damaged, nil), fmt.Sprintf("at byte %d: ", reportfile.HeadBytes+1000*size)},
		"twice":          {file(t, data, nil), "must be counted once, and has the reports of "},
		"another round":  {other.write(t, 0, 10, false), "must hold reports of one of the rounds"},
		"a wrong report": {wrongReport, fmt.Sprintf("report at byte %d: coco: add: bad report", reportfile.HeadBytes+10*size)},
		"CSV, cut":       {file(t, []byte("round,report\n"+w.csv(t, 0, 5, "")+"a"), nil), "the file is cut"},
		"CSV, round":     {file(t, []byte("round,report\n"+other.csv(t, 0, 2, "")), nil), "must be one of "},
		"CSV, header":    {file(t, []byte("round,reports\n"), nil), "at byte 0: header"},
		"CSV, base64":    {file(t, []byte("round,report\n"+strings.Repeat("0", 64)+",?\n"), nil), "at byte 13: report"},
		"CSV, two of id": {file(t, []byte("round,report,id\n"+w.csv(t, 0, 2, "x")+strings.Replace(w.csv(t, 2, 3, "x"), ",x2", ",x1", 1)), nil), "two reports, at byte "},
		"absent":         {good + ".absent", "no such file"},
	} {
		out, err := run(t, []fl.Round{w.Round}, good, c.file)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, c.want) || !strings.Contains(last, c.file+": ") && !strings.Contains(last, good+": ") {
			t.Errorf("%s: error %q, want %q behind the name", name, last, c.want)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there are results", name)
		}
	}
}
