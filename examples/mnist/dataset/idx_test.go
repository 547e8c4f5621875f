package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// idx returns an idx file: big-endian words and then the values.
func idx(values []byte, words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return append(b, values...)
}

func zipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var (
	goodImages = idx([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}, 0x803, 2, 2, 3)
	goodLabels = idx([]byte{0, 9, 5}, 0x801, 3)
	goodShorts = idx([]byte{0, 9, 3, 0xe7}, 0xb01, 2)
)

func TestReadImages(t *testing.T) {
	for name, content := range map[string][]byte{"plain": goodImages, "gzip": zipped(t, goodImages)} {
		im, err := readImages(iotest.OneByteReader(bytes.NewReader(content)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if im.Count != 2 || im.Rows != 2 || im.Cols != 3 || !bytes.Equal(im.Pixels, goodImages[16:]) {
			t.Errorf("%s: got %+v", name, im)
		}
	}
}

func TestReadLabels(t *testing.T) {
	for name, content := range map[string][]byte{"plain": goodLabels, "gzip": zipped(t, goodLabels)} {
		got, err := readLabels(iotest.OneByteReader(bytes.NewReader(content)))
		if want := []int{0, 9, 5}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, want)
		}
	}
	if got, err := readLabels(bytes.NewReader(goodShorts)); err != nil || !slices.Equal(got, []int{9, 999}) {
		t.Errorf("two bytes: got %v, %v", got, err)
	}
}

func TestReadImagesErrors(t *testing.T) {
	z := zipped(t, goodImages)
	badSum := bytes.Clone(z)
	badSum[len(z)-8] ^= 1
	for _, c := range []struct {
		name    string
		content []byte
		want    string
		is      error
	}{
		{"empty", nil, "header of 16 bytes", io.ErrUnexpectedEOF},
		{"half header", goodImages[:9], "header of 16 bytes", io.ErrUnexpectedEOF},
		{"label file", idx(nil, 0x801, 2, 2, 3), "magic number: got \"0x00000801\", rule: must be 0x00000803", nil},
		{"little endian", idx(nil, 0x03080000, 2, 2, 3), "magic number: got \"0x03080000\"", nil},
		{"no items", idx(nil, 0x803, 0, 2, 3), "items: got 0, rule: must be in [1, 1048576]", nil},
		{"too many items", idx(nil, 0x803, 1<<20+1, 1, 1), "items: got 1048577", nil},
		{"sign bit", idx(nil, 0x803, 0xffffffff, 1, 1), "items: got 4294967295", nil},
		{"too many rows", idx(nil, 0x803, 1, 257, 1), "rows: got 257, rule: must be in [1, 256]", nil},
		{"too many columns", idx(nil, 0x803, 1, 1, 257), "columns: got 257, rule: must be in [1, 256]", nil},
		{"too many pixels", idx(nil, 0x803, 1<<20, 16, 17), "pixels: got 285212672, rule: must be at most 268435456, not 1048576×16×17", nil},
		{"wraps 32 bits", idx(nil, 0x803, 65536, 256, 256), "pixels: got 4294967296", nil},
		{"one pixel short", goodImages[:len(goodImages)-1], "got 11, rule: must be 12 bytes", io.ErrUnexpectedEOF},
		{"one pixel more", append(bytes.Clone(goodImages), 7), "got 13, rule: must be 12 bytes and no more", nil},
		{"gzip of one more", zipped(t, append(bytes.Clone(goodImages), 7)), "got 13, rule: must be 12 bytes and no more", nil},
		{"gzip cut in its header", z[:5], "gzip header", io.ErrUnexpectedEOF},
		{"gzip cut in its data", z[:len(z)-12], "", io.ErrUnexpectedEOF},
		{"gzip cut in its sum", z[:len(z)-3], "got 12 of 12 bytes", io.ErrUnexpectedEOF},
		{"gzip with a wrong sum", badSum, "", gzip.ErrChecksum},
		{"gzip and more", append(bytes.Clone(z), "more than ten bytes"...), "", gzip.ErrHeader},
	} {
		im, err := readImages(bytes.NewReader(c.content))
		if im != nil || err == nil || !strings.HasPrefix(err.Error(), "images: ") ||
			!strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got %v, error %v; want error %q wrapping %v", c.name, im, err, c.want, c.is)
		}
	}
}

func TestReadLabelsErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		content []byte
		want    string
		is      error
	}{
		{"empty", nil, "header of 8 bytes", io.ErrUnexpectedEOF},
		{"image file", goodImages, "magic number: got \"0x00000803\", rule: must be 0x00000801", nil},
		{"no items", idx(nil, 0x801, 0), "items: got 0", nil},
		{"too many items", idx(nil, 0x801, 1<<20+1), "items: got 1048577", nil},
		{"short", goodLabels[:10], "got 2, rule: must be 3 bytes", io.ErrUnexpectedEOF},
		{"long", append(bytes.Clone(goodLabels), 1), "got 4, rule: must be 3 bytes and no more", nil},
		{"half a label", goodShorts[:11], "got 3, rule: must be 4 bytes", io.ErrUnexpectedEOF},
	} {
		labels, err := readLabels(bytes.NewReader(c.content))
		if labels != nil || err == nil || !strings.HasPrefix(err.Error(), "labels: ") ||
			!strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got %v, error %v; want error %q wrapping %v", c.name, labels, err, c.want, c.is)
		}
	}
}

func TestReadPassesOnReaderErrors(t *testing.T) {
	broken := errors.New("broken disk")
	for _, n := range []int64{0, 1, 10, 20} {
		r := func(b []byte) io.Reader {
			return io.MultiReader(bytes.NewReader(b[:min(n, int64(len(b)))]), iotest.ErrReader(broken))
		}
		if _, err := readImages(r(goodImages)); !errors.Is(err, broken) {
			t.Errorf("images, %d bytes: got %v, want %v", n, err, broken)
		}
		if _, err := readLabels(r(goodLabels)); !errors.Is(err, broken) {
			t.Errorf("labels, %d bytes: got %v, want %v", n, err, broken)
		}
	}
	// An error that comes once, while the first two bytes are looked at.
	once := iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(goodImages)))
	if _, err := readImages(once); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("images, error once: got %v, want %v", err, iotest.ErrTimeout)
	}
}

// allocated returns the bytes that f allocates, give or take what the runtime
// allocates beside it.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemoryFollowsTheData: a header that promises 256 MiB and a bomb that
// unpacks to 64 MiB both cost less than 1 MiB.
func TestMemoryFollowsTheData(t *testing.T) {
	promise := idx(make([]byte, 100), 0x803, 1<<20, 16, 16)
	bomb := zipped(t, idx(make([]byte, 64<<20), 0x803, 1, 1, 1))
	for name, content := range map[string][]byte{"promise": promise, "bomb": bomb} {
		r := bytes.NewReader(content)
		var err error
		got := allocated(func() { _, err = readImages(r) })
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
		if got > 1<<20 {
			t.Errorf("%s: allocated %d bytes, want less than 1 MiB", name, got)
		}
		if read := len(content) - r.Len(); read > 8192 {
			t.Errorf("%s: read %d of %d bytes, want at most 8192", name, read, len(content))
		}
	}
}

// unzipped returns what a gzip or plain stream holds.
func unzipped(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func addSeeds(f *testing.F, good []byte) {
	z := zipped(f, good)
	for _, b := range [][]byte{good, z} {
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(b[:len(b)/2])
		f.Add(append(bytes.Clone(b), 0))
	}
	f.Add([]byte{})
}

// FuzzReadImages: what is accepted is the file, byte for byte.
func FuzzReadImages(f *testing.F) {
	addSeeds(f, goodImages)
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := readImages(bytes.NewReader(b))
		if err != nil {
			if im != nil {
				t.Fatalf("got %+v beside error %v", im, err)
			}
			return
		}
		want, err := unzipped(b)
		if err != nil {
			t.Fatalf("accepted what gzip rejects: %v", err)
		}
		got := idx(im.Pixels, 0x803, uint32(im.Count), uint32(im.Rows), uint32(im.Cols))
		if !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}

// FuzzReadLabels: what is accepted is the file, byte for byte.
func FuzzReadLabels(f *testing.F) {
	addSeeds(f, goodLabels)
	addSeeds(f, goodShorts)
	f.Fuzz(func(t *testing.T, b []byte) {
		labels, err := readLabels(bytes.NewReader(b))
		if err != nil {
			if labels != nil {
				t.Fatalf("got %v beside error %v", labels, err)
			}
			return
		}
		want, err := unzipped(b)
		if err != nil {
			t.Fatalf("accepted what gzip rejects: %v", err)
		}
		magic, values := binary.BigEndian.Uint32(want), []byte(nil)
		for _, l := range labels {
			if magic == magicShorts {
				values = append(values, byte(l>>8))
			}
			values = append(values, byte(l))
		}
		if got := idx(values, magic, uint32(len(labels))); !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}
