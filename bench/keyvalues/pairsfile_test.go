package keyvalues

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var few = limits{bytes: 1000, lines: 4, names: 3, lineLength: 40}

// Lines come in any order, a header and further fields are left out, the last of two values counts, and
// values are scaled from their range.
func TestPairsAreReadAndScaled(t *testing.T) {
	p, err := readPairs(strings.NewReader("userId,movieId,rating,timestamp\r\nb,x,1,99\r\na,y,5\na,x,3\n\na,y,2\n"), few)
	if err != nil {
		t.Fatal(err)
	}
	// b is client 0 and x is key 0: they come first.
	want := &ratings{dim: 2, first: []int{0, 1, 3}, pairs: []rating{{0, -1}, {0, 0}, {1, -0.5}}}
	if p.dim != want.dim || !slices.Equal(p.first, want.first) || !slices.Equal(p.pairs, want.pairs) {
		t.Errorf("%+v, want %+v", p, want)
	}
	truth := p.truth()
	if truth.frequency[0] != 1 || truth.frequency[1] != 0.5 || truth.mean[0] != -0.5 || truth.mean[1] != -0.5 {
		t.Errorf("%+v", truth)
	}
}

func TestBadPairsAreErrors(t *testing.T) {
	for text, want := range map[string]struct{ param, part string }{
		"":                                      {"pairs", "0 with one value"},
		"a,x,1\nb,x,1\n":                        {"pairs", "2 with one value"},
		"a,x,1\nb,x\n":                          {"line", "line 2"},
		"a,x,1\nb,x,good\n":                     {"value", "line 2"},
		"a,x,1\nb,x,NaN\n":                      {"value", "line 2"},
		"a,x,1\nb,x,1e39\n":                     {"value", "line 2"},
		",x,1\n":                                {"client", "line 1"},
		"a,,1\n":                                {"key", "line 1"},
		"a,x,1\na,y,2\na,z,3\na,u,4\n":          {"keys", "line 4"},
		"a,x,1\nb,x,2\nc,x,3\nd,x,4\n":          {"clients", "line 4"},
		"a,x,1\na,x,2\na,x,3\na,x,4\na,x,5\n":   {"pairs", "line 5"},
		"a,x,1\n" + strings.Repeat("b", 41):     {"line", "line 2"},
		strings.Repeat("b", 30) + "," + "x,1,2": {"pairs", "1 with one value"},
	} {
		_, err := readPairs(strings.NewReader(text), few)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != want.param || !strings.Contains(err.Error(), want.part) {
			t.Errorf("%q: %v, want %s, %s", text, err, want.param, want.part)
		}
	}
	if _, err := readPairsFile(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Whatever is read has sorted keys, once each, in the range.
func FuzzReadPairs(f *testing.F) {
	for _, text := range []string{"a,x,1\nb,x,2\n", "client,key,value\na,x,1\na,x,-1\nb,y,0.5,more\n", "a,x,1e38\r\nb,x,-1e38", "\n\n", ",,\n", "a,x,1\nb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readPairs(strings.NewReader(text), limits{bytes: 1 << 16, lines: 100, names: 20, lineLength: 100})
		if err != nil {
			return
		}
		if p.clients() < 1 || p.dim < 1 || p.first[len(p.first)-1] != len(p.pairs) || len(p.pairs) > 100 {
			t.Fatalf("%+v", p)
		}
		for client := range p.clients() {
			own := p.of(client)
			if len(own) == 0 {
				t.Fatalf("client %d has nothing", client)
			}
			for i, r := range own {
				if !(r.value >= -1 && r.value <= 1) || int(r.key) >= p.dim || i > 0 && own[i-1].key >= r.key {
					t.Fatalf("client %d: %v", client, own)
				}
			}
		}
	})
}
