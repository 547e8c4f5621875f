package npy

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// What numpy 2.4.6 writes for numpy.save(f, numpy.array([1., -2.5, 1e-300])).
const numpySaved = "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028332c292c207d" +
	"2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a" +
	"000000000000f03f00000000000004c059f3f8c21f6ea501"

func saved(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(numpySaved)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNpyIsWhatNumPyWrites(t *testing.T) {
	want := saved(t)
	v := []float64{1, -2.5, 1e-300}
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("got %q, want %q", b.Bytes(), want)
	}
	if got, err := Read(bytes.NewReader(want), 3); err != nil || !slices.Equal(got, v) {
		t.Errorf("got %g, %v", got, err)
	}
}

// The elements start at a multiple of 64 bytes after a newline, for every
// number of digits.
func TestNpyAlignment(t *testing.T) {
	for n := 1; n < 200_000; n *= 10 {
		var b bytes.Buffer
		if err := Write(&b, make([]float64, n)); err != nil {
			t.Fatal(err)
		}
		start := b.Len() - 8*n
		if start%64 != 0 || b.Bytes()[start-1] != '\n' || int(binary.LittleEndian.Uint16(b.Bytes()[8:])) != start-10 {
			t.Errorf("n=%d: header %q", n, b.Bytes()[:start])
		}
		if v, err := Read(&b, n); err != nil || len(v) != n {
			t.Errorf("n=%d: %v", n, err)
		}
	}
}

// npy returns a file with the given header and elements.
func npy(header string, elements ...float64) []byte {
	b := binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(header)))
	b = append(b, header...)
	for _, e := range elements {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e))
	}
	return b
}

func TestNpyHeaders(t *testing.T) {
	for _, good := range []string{
		"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n",
		"{'descr':'<f8','fortran_order':True,'shape':(2,)}\n",
		"{ 'shape' : ( 2 , ) , 'descr' : '<f8' , 'fortran_order' : False }      \n",
	} {
		v, err := Read(bytes.NewReader(npy(good, 5, 6)), 2)
		if err != nil || !slices.Equal(v, []float64{5, 6}) {
			t.Errorf("%q: got %g, %v", good, v, err)
		}
	}
	for header, want := range map[string]string{
		"": "header: got \"\", rule: must be a dictionary",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }":                     "must be a dictionary and a newline",
		"'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n":                    "must be a dictionary",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), \n":                    "must be a dictionary",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n":                   "descr: got '<f4', rule: must be '<f8'",
		"{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }\n":                   "descr: got '>f8'",
		"{'descr': False, 'fortran_order': False, 'shape': (2,), }\n":                   "descr: got False",
		"{'fortran_order': False, 'shape': (2,), }\n":                                   "descr: got , rule: must be",
		"{'descr': '<f8', 'shape': (2,), }\n":                                           "fortran_order: got , rule: must be",
		"{'descr': '<f8', 'fortran_order': 'x', 'shape': (2,), }\n":                     "fortran_order: got 'x'",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n":                   "shape: got (3,), rule: must be (2,)",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,),}\n": "shape: got (9999",
		"{'descr': '<f8', 'fortran_order': False, 'shape': '2', }\n":                    "shape: got '2'",
		"{'descr': '<f8', 'fortran_order': False}\n":                                    "shape: got , rule: must be (2,)",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n":                 "of a vector",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }\n":                  "of a vector",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n":                     "of a vector",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 'y'}\n":           "must have items",
		"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n":   "got \"descr\" twice",
	} {
		if v, err := Read(bytes.NewReader(npy(header, 5, 6)), 2); err == nil || v != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %g, %v, want %s", header, v, err, want)
		}
	}
}

func TestNpyLength(t *testing.T) {
	whole := npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", 5, 6)
	for n := range whole {
		if _, err := Read(bytes.NewReader(whole[:n]), 2); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes of %d: got %v", n, len(whole), err)
		}
	}
	if _, err := Read(bytes.NewReader(append(slices.Clone(whole), 0)), 2); err == nil || !strings.Contains(err.Error(), "after the last") {
		t.Errorf("one byte too many: got %v", err)
	}
	for i, b := range []byte(magic) { // the version is its end
		wrong := slices.Clone(whole)
		wrong[i] = b + 1
		if _, err := Read(bytes.NewReader(wrong), 2); err == nil || !strings.Contains(err.Error(), "magic string: got") {
			t.Errorf("magic byte %d: got %v", i, err)
		}
	}
}

// Whatever is accepted is what the last bytes of the file say, and survives being
// written again.
func FuzzRead(f *testing.F) {
	f.Add(saved(f))
	f.Add(npy("{'shape': (3,), 'descr': '<f8', 'fortran_order': True}\n", 1, 2, 3))
	f.Add(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n", 1, math.NaN(), 3))
	f.Add(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }\n", 1, 2, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Read(bytes.NewReader(b), 3)
		if err != nil {
			if v != nil {
				t.Fatalf("got %g and %v", v, err)
			}
			return
		}
		var again bytes.Buffer
		if err := Write(&again, v); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Bytes()[again.Len()-24:], b[len(b)-24:]) {
			t.Fatalf("%q became %q", b, again.Bytes())
		}
		w, err := Read(&again, 3)
		if err != nil || len(w) != 3 {
			t.Fatalf("%g became %g, %v", v, w, err)
		}
		for i := range w { // NaN has many forms, and all survive
			if math.Float64bits(v[i]) != math.Float64bits(w[i]) {
				t.Fatalf("%g became %g", v, w)
			}
		}
	})
}
