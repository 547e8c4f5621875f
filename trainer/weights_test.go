package trainer

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/npy"
)

func TestSaveLoad(t *testing.T) {
	m := must[*Model](t)(NewMLP(Input{1, 2, 2}, 3, 4))
	dir := t.TempDir()
	path := filepath.Join(dir, "model.npy")
	for seed := range byte(2) { // the second time over the first file
		p := m.Init(testRand(seed))
		p[0], p[1] = math.Copysign(0, -1), -maxMagnitude
		if err := Save(path, m, p); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path, m)
		if err != nil || !slices.Equal(got, p) || !math.Signbit(got[0]) {
			t.Fatalf("got %g, %v, want %g", got, err, p)
		}
	}
	// A reader that opened the old file still reads all of it.
	reader := must[*os.File](t)(os.Open(path))
	defer reader.Close()
	old := must[[]byte](t)(os.ReadFile(path))
	if err := Save(path, m, m.Init(testRand(2))); err != nil {
		t.Fatal(err)
	}
	if got := must[[]byte](t)(io.ReadAll(reader)); !bytes.Equal(got, old) {
		t.Error("Save wrote into the file that a reader had open")
	}
	entries := must[[]fs.DirEntry](t)(os.ReadDir(dir))
	info := must[fs.FileInfo](t)(os.Stat(path))
	if len(entries) != 1 || info.Mode() != 0o644 {
		t.Errorf("got %v with mode %v, want one file with mode 0644", entries, info.Mode())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteAndReadWeights(t *testing.T) {
	m := must[*Model](t)(NewMLP(Input{1, 2, 2}, 3, 4))
	p := m.Init(testRand(1))
	var b bytes.Buffer
	if err := WriteWeights(&b, m, p); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(b.Bytes())
	if got, err := ReadWeights(&b, m); err != nil || !slices.Equal(got, p) {
		t.Errorf("got %g, %v, want %g", got, err, p)
	}
	if _, err := ReadWeights(bytes.NewReader(whole[:len(whole)-1]), m); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "trainer: weights: ") {
		t.Errorf("one byte short: got %v", err)
	}
	if err := WriteWeights(&b, m, p[1:]); err == nil || err.Error() != "trainer: params: got 34, rule: must have 35 elements" || b.Len() != 0 {
		t.Errorf("one parameter short: got %v and %d bytes", err, b.Len())
	}
	if err := WriteWeights(brokenPipe{}, m, p); !errors.Is(err, io.ErrClosedPipe) || !strings.HasPrefix(err.Error(), "trainer: weights: ") {
		t.Errorf("broken pipe: got %v", err)
	}
}

func TestSaveErrors(t *testing.T) {
	m := must[*Model](t)(NewSoftmax(Input{1, 1, 1}, 2))
	dir := t.TempDir()
	path := filepath.Join(dir, "model.npy")
	if err := Save(path, m, []float64{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	before := must[[]byte](t)(os.ReadFile(path))
	for want, p := range map[string][]float64{
		"trainer: params: got 3, rule: must have 4 elements": {1, 2, 3},
		"trainer: params[2]: got NaN":                        {1, 2, math.NaN(), 4},
	} {
		refuses(t, Save(path, m, p), want)
	}
	if after := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(before, after) {
		t.Error("a refused vector changed the file")
	}
	if err := Save(filepath.Join(dir, "absent", "x.npy"), m, make([]float64, 4)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: got %v", err)
	}
	// The temporary file goes away when it cannot take the place of path.
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Save(folder, m, make([]float64, 4)); err == nil || !strings.HasPrefix(err.Error(), "trainer: save: ") {
		t.Errorf("over a folder: got %v", err)
	}
	if entries := must[[]fs.DirEntry](t)(os.ReadDir(dir)); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestLoadErrors(t *testing.T) {
	m := must[*Model](t)(NewSoftmax(Input{1, 1, 1}, 2))
	path := filepath.Join(t.TempDir(), "model.npy")
	if _, err := Load(path, m); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "trainer: load: ") {
		t.Errorf("absent file: got %v", err)
	}
	if err := Save(path, m, []float64{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	other := must[*Model](t)(NewSoftmax(Input{1, 1, 1}, 3))
	if _, err := Load(path, other); err == nil || !strings.HasSuffix(err.Error(), "shape: got (4,), rule: must be (6,)") {
		t.Errorf("another model's file: got %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), 1e51} {
		var file bytes.Buffer
		if err := npy.Write(&file, []float64{0, 0, bad, 0}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, err := Load(path, m); err == nil || v != nil || !strings.HasPrefix(err.Error(), "trainer: "+path+"[2]: got ") {
			t.Errorf("%g: got %g, %v", bad, v, err)
		}
	}
}
