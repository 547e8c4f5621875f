package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// writeDir writes files to a new directory.
func writeDir(t *testing.T, content map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range content {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkFour fails unless d is what fourFiles holds, cut to train and test images.
func checkFour(t *testing.T, d *Data, train, test int) {
	t.Helper()
	if d.Source != SourceMNIST || d.Train.Len() != train || d.Test.Len() != test {
		t.Fatalf("got %q with %d and %d images, want %q with %d and %d", d.Source, d.Train.Len(), d.Test.Len(), SourceMNIST, train, test)
	}
	if want := []int{7, 8, 9}[:train]; !slices.Equal(d.Train.Labels, want) {
		t.Errorf("train labels: got %v, want %v", d.Train.Labels, want)
	}
	if want := []int{1, 2}[:test]; !slices.Equal(d.Test.Labels, want) {
		t.Errorf("test labels: got %v, want %v", d.Test.Labels, want)
	}
	if want := []float64{0, 0, 0, 1}; !slices.Equal(d.Train.Image(0), want) {
		t.Errorf("train image 0: got %v, want %v", d.Train.Image(0), want)
	}
	if want := []float64{1, 0, 0, 0}; !slices.Equal(d.Test.Image(0), want) {
		t.Errorf("test image 0: got %v, want %v", d.Test.Image(0), want)
	}
}

func TestLoadDir(t *testing.T) {
	content := fourFiles(t)
	plain := map[string][]byte{}
	for name, b := range content {
		u, err := unzipped(b)
		if err != nil {
			t.Fatal(err)
		}
		plain[strings.TrimSuffix(name, ".gz")] = u
	}
	for name, files := range map[string]map[string][]byte{"gzip": content, "plain": plain} {
		dir := writeDir(t, files)
		d, err := Load(t.Context(), Options{Source: dir})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkFour(t, d, 3, 2)
		if want := "MNIST files read from " + dir; d.Note != want {
			t.Errorf("%s: note: got %q, want %q", name, d.Note, want)
		}
	}
	d, err := Load(t.Context(), Options{Source: writeDir(t, content), TrainSize: 2, TestSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkFour(t, d, 2, 1)
}

// TestLoadDirErrors: no fault in a named directory is covered up.
func TestLoadDirErrors(t *testing.T) {
	for _, c := range []struct {
		file    string
		content []byte // nil: the file is missing
		o       Options
		want    string
		is      error
	}{
		{"train-images-idx3-ubyte.gz", nil, Options{}, "train-images-idx3-ubyte.gz: got \"no such file\"", fs.ErrNotExist},
		{"train-labels-idx1-ubyte.gz", nil, Options{}, "train-labels-idx1-ubyte.gz: got \"no such file\"", fs.ErrNotExist},
		{"t10k-images-idx3-ubyte.gz", nil, Options{}, "t10k-images-idx3-ubyte.gz: got \"no such file\"", fs.ErrNotExist},
		{"t10k-labels-idx1-ubyte.gz", nil, Options{}, "t10k-labels-idx1-ubyte.gz: got \"no such file\"", fs.ErrNotExist},
		{"train-images-idx3-ubyte.gz", []byte{}, Options{}, "train images: header", io.ErrUnexpectedEOF},
		{"t10k-labels-idx1-ubyte.gz", []byte("not labels"), Options{}, "test labels: magic number", nil},
		{"train-labels-idx1-ubyte.gz", idx([]byte{7, 8}, 0x801, 2), Options{}, "train labels: got 2, rule: must be one for each of the 3 images", nil},
		{"t10k-images-idx3-ubyte.gz", idx(make([]byte, 8), 0x803, 2, 1, 4), Options{}, "test image size: got \"1×4\", rule: must be the train images' size, 2×2", nil},
		{"t10k-images-idx3-ubyte.gz", idx(make([]byte, 12), 0x803, 2, 2, 3), Options{}, "test image size: got \"2×3\", rule: must be the train images' size, 2×2", nil},
		{"t10k-images-idx3-ubyte.gz", idx(make([]byte, 12), 0x803, 2, 3, 2), Options{}, "test image size: got \"3×2\", rule: must be the train images' size, 2×2", nil},
		{"unrelated", []byte{}, Options{TrainSize: 4}, "train size: got 4, rule: must be at most 3", nil},
		{"unrelated", []byte{}, Options{TestSize: 3}, "test size: got 3, rule: must be at most 2", nil},
	} {
		content := fourFiles(t)
		if c.content != nil {
			content[c.file] = c.content
		} else {
			delete(content, c.file)
		}
		c.o.Source = writeDir(t, content)
		d, err := Load(t.Context(), c.o)
		if d != nil || err == nil || !strings.HasPrefix(err.Error(), "dataset: --data "+c.o.Source+": ") ||
			!strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got %v, error %v; want error %q wrapping %v", c.file, d, err, c.want, c.is)
		}
	}
	for _, source := range []string{"absent", "load.go"} {
		var p *fl.ParamError
		if _, err := Load(t.Context(), Options{Source: source}); !errors.As(err, &p) || p.Param != "--data" || p.Got != `"`+source+`"` {
			t.Errorf("%s: %v, want a ParamError for --data", source, err)
		}
	}
	// What cannot be opened for another reason is not said to be missing.
	if _, err := Load(t.Context(), Options{Source: "a\x00b"}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("impossible name: got %v, want an error other than %v", err, fs.ErrNotExist)
	}
	// A directory in the place of a file exists and cannot be read.
	content := fourFiles(t)
	delete(content, "t10k-labels-idx1-ubyte.gz")
	dir := writeDir(t, content)
	if err := os.Mkdir(filepath.Join(dir, "t10k-labels-idx1-ubyte.gz"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), Options{Source: dir}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory in the place of a file: got %v, want an error other than %v", err, fs.ErrNotExist)
	}
}

func TestLoadSizeErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{TrainSize: -1}, "dataset: train size: got -1, rule: must be in [0, 60000]"},
		{Options{TrainSize: 60001}, "dataset: train size: got 60001, rule: must be in [0, 60000]"},
		{Options{TestSize: -1}, "dataset: test size: got -1, rule: must be in [0, 10000]"},
		{Options{TestSize: 10001}, "dataset: test size: got 10001, rule: must be in [0, 10000]"},
	} {
		if d, err := Load(t.Context(), c.o); d != nil || err == nil || err.Error() != c.want {
			t.Errorf("Load: got %v, %v; want error %q", d, err, c.want)
		}
		if d, err := Generate(t.Context(), c.o); d != nil || err == nil || err.Error() != c.want {
			t.Errorf("Generate: got %v, %v; want error %q", d, err, c.want)
		}
	}
}

// Files may hold more pictures than are ever generated, and other numbers of classes.
func TestLoadDirLimits(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{TrainSize: 1<<20 + 1}, "train size: got 1048577, rule: must be in [0, 1048576]"},
		{Options{TestSize: -1}, "test size: got -1, rule: must be in [0, 1048576]"},
		{Options{Classes: 1}, "--classes: got 1, rule: must be in [2, 1000]"},
		{Options{Classes: 1001}, "--classes: got 1001, rule: must be in [2, 1000]"},
		{Options{Source: Textures, Classes: 26}, "--classes: got 26, rule: must be 10 without a directory"},
		{Options{Source: Textures, Transpose: true}, "--transpose: got true, rule: needs pictures of your own"},
	} {
		if c.o.Source == "" {
			c.o.Source = t.TempDir()
		}
		if d, err := Load(t.Context(), c.o); d != nil || err == nil || !strings.HasPrefix(err.Error(), "dataset: "+c.want) {
			t.Errorf("%+v: got %v, %v; want error %q", c.o, d, err, c.want)
		}
	}
}

// labelled is a directory with three training pictures, two test pictures, and their labels.
func labelled(t *testing.T, prefix, test string, train, tested []byte) string {
	t.Helper()
	four := map[string][]byte{
		"train-images-idx3-ubyte": idx([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, 0x803, 3, 2, 3), "train-labels-idx1-ubyte": idx(train, 0x801, 3),
		test + "-images-idx3-ubyte": idx(make([]byte, 12), 0x803, 2, 2, 3), test + "-labels-idx1-ubyte": idx(tested, 0x801, 2),
	}
	named := map[string][]byte{}
	for name, content := range four {
		named[prefix+name] = content
	}
	return writeDir(t, named)
}

// Labels count from 0, or from 1 where the last one is the number of classes, in both sets alike.
func TestLabelsOfDeclaredClasses(t *testing.T) {
	for _, c := range []struct {
		classes      int
		train, test  []byte
		want, tested []int
		bad          string
	}{
		{26, []byte{0, 25, 3}, []byte{1, 2}, []int{0, 25, 3}, []int{1, 2}, ""},
		{26, []byte{1, 26, 3}, []byte{1, 2}, []int{0, 25, 2}, []int{0, 1}, ""},
		{26, []byte{1, 2, 3}, []byte{1, 26}, []int{0, 1, 2}, []int{0, 25}, ""},
		{26, []byte{1, 2, 3}, []byte{1, 25}, []int{1, 2, 3}, []int{1, 25}, ""}, // which may well be 0 to 25
		{2, []byte{0, 1, 1}, []byte{0, 1}, []int{0, 1, 1}, []int{0, 1}, ""},
		{26, []byte{0, 26, 3}, []byte{1, 2}, nil, nil, "train label 1: got 26, rule: must be in [0, 25], or [1, 26] where no label is 0: for more classes type --classes 27"},
		{26, []byte{1, 26, 3}, []byte{1, 0}, nil, nil, "train label 1: got 26"},
		{0, []byte{1, 2, 3}, []byte{1, 47}, nil, nil, "test label 1: got 47, rule: must be in [0, 9], or [1, 10] where no label is 0: for more classes type --classes 47"},
	} {
		d, err := Load(t.Context(), Options{Source: labelled(t, "", "t10k", c.train, c.test), Classes: c.classes})
		if c.bad != "" {
			if d != nil || err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%v: got %v, %v; want error %q", c.train, d, err, c.bad)
			}
			continue
		}
		if err != nil || !slices.Equal(d.Train.Labels, c.want) || !slices.Equal(d.Test.Labels, c.tested) || d.Train.Classes != c.classes || d.Test.Classes != c.classes {
			t.Errorf("%v: got %+v, %v", c.train, d, err)
		} else if moved := strings.Contains(d.Note, "labels 1 to 26 count as classes 0 to 25"); moved != (c.want[0] != int(c.train[0])) {
			t.Errorf("%v: note %q", c.train, d.Note)
		}
	}
}

// EMNIST's names are found where they are the only ones, and its pictures are turned where that is asked for, and else said to be turned.
func TestEMNISTFiles(t *testing.T) {
	dir := labelled(t, "emnist-letters-", "test", []byte{1, 26, 3}, []byte{1, 2})
	d, err := Load(t.Context(), Options{Source: dir, Classes: 26})
	if err != nil || !strings.HasPrefix(d.Note, "emnist-letters-files read from ") || !strings.Contains(d.Note, "--transpose swaps them back") || d.Train.Rows != 2 || d.Train.Cols != 3 {
		t.Errorf("got %+v, %v", d, err)
	}
	turned, err := Load(t.Context(), Options{Source: dir, Classes: 26, Transpose: true})
	if err != nil || !strings.HasSuffix(turned.Note, "rows and columns of pictures are swapped") || turned.Train.Rows != 3 || turned.Test.Cols != 2 {
		t.Fatalf("got %+v, %v", turned, err)
	}
	if want := []float64{7. / 255, 10. / 255, 8. / 255, 11. / 255, 9. / 255, 12. / 255}; !slices.Equal(turned.Train.Image(1), want) {
		t.Errorf("picture %v, want %v", turned.Train.Image(1), want)
	}
	if err := os.WriteFile(filepath.Join(dir, "emnist-digits-train-images-idx3-ubyte.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), Options{Source: dir, Classes: 26}); err == nil || !strings.Contains(err.Error(), "must be of one split of EMNIST") {
		t.Errorf("two splits: %v", err)
	}
}

func TestLoadDownloadsThenUsesTheCache(t *testing.T) {
	content := fourFiles(t)
	server := newMirror(t, content, nil)
	m := testMNIST(t, content, server)
	for _, want := range []string{"MNIST downloaded from " + server.url(), "MNIST from the cache in " + m.cacheDir} {
		d, err := m.load(t.Context(), Options{Source: Download})
		if err != nil {
			t.Fatal(err)
		}
		checkFour(t, d, 3, 2)
		if d.Note != want {
			t.Errorf("note: got %q, want %q", d.Note, want)
		}
		server.Close() // the second time there is only the cache
	}
}

// offline is a machine without a network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network,\n  in two lines")
}

// A download that fails is one line and an error that is no wrong call; nothing
// stands in for it.
func TestLoadFailsOffline(t *testing.T) {
	content := fourFiles(t)
	server := newMirror(t, content, nil)
	m := testMNIST(t, content, server)
	m.client = &http.Client{Transport: offline{}}
	d, err := m.load(t.Context(), Options{Source: Download, TrainSize: 20, TestSize: 10})
	want := fmt.Sprintf("MNIST could not be downloaded: Get \"%strain-images-idx3-ubyte.gz\": no network, in two lines", server.url())
	var p *fl.ParamError
	if d != nil || err == nil || err.Error() != want || errors.As(err, &p) {
		t.Errorf("got %v, %v; want the error %q", d, err, want)
	}
}

// Generated digits are drawn at once: nothing is asked of a mirror or of the cache.
func TestLoadGeneratesUnlessAskedOtherwise(t *testing.T) {
	content := fourFiles(t)
	server := newMirror(t, content, nil)
	m := testMNIST(t, content, server)
	for _, cached := range []bool{false, true} {
		if cached {
			if _, err := m.load(t.Context(), Options{Source: Download}); err != nil {
				t.Fatal(err)
			}
		}
		asked := len(server.requests())
		d, err := m.load(t.Context(), Options{TrainSize: 20, TestSize: 10, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		want := "digits drawn from the Go fonts with seed 5: accuracy on them is not comparable with MNIST"
		if d.Source != SourceGenerated || d.Train.Len() != 20 || d.Test.Len() != 10 || d.Note != want || len(server.requests()) != asked {
			t.Errorf("cached %t: %q with %d and %d images, %q, %d requests", cached, d.Source, d.Train.Len(), d.Test.Len(), d.Note, len(server.requests())-asked)
		}
	}
}

// TestLoadReportsAFormatError: what has the right digest and cannot
// be read is a fault of this program and is not covered up.
func TestLoadReportsAFormatError(t *testing.T) {
	content := fourFiles(t)
	content["t10k-labels-idx1-ubyte.gz"] = []byte("not labels")
	m := testMNIST(t, content, newMirror(t, content, nil))
	if d, err := m.load(t.Context(), Options{Source: Download}); d != nil || err == nil || !strings.Contains(err.Error(), "test labels: magic number") {
		t.Errorf("got %v, %v; want an error about the magic number", d, err)
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	content := fourFiles(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := newMirror(t, content, func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if d, err := testMNIST(t, content, server).load(ctx, Options{Source: Download}); d != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("during a download: got %v, %v; want %v", d, err, context.Canceled)
	}
	if d, err := Load(ctx, Options{Source: writeDir(t, content)}); d != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("with a directory: got %v, %v; want %v", d, err, context.Canceled)
	}
	if d, err := Generate(ctx, Options{}); d != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Generate: got %v, %v; want %v", d, err, context.Canceled)
	}
}

// TestLoadKeepsCacheBytes: reading the files leaves the cached ones as they were.
func TestLoadKeepsCacheBytes(t *testing.T) {
	content := fourFiles(t)
	m := testMNIST(t, content, newMirror(t, content, nil))
	if _, err := m.load(t.Context(), Options{Source: Download, TrainSize: 1}); err != nil {
		t.Fatal(err)
	}
	for _, f := range m.files {
		got, err := os.ReadFile(filepath.Join(m.cacheDir, f.name))
		if err != nil || !bytes.Equal(got, content[f.name]) {
			t.Errorf("%s: got %d bytes, %v; want the %d published", f.name, len(got), err, len(content[f.name]))
		}
	}
}
