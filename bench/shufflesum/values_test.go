package shufflesum

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

func TestValuesAreCounted(t *testing.T) {
	got, err := parseValues(strings.NewReader("3\n0\r\n 7 \n3\n"), 7, 4)
	if want := (population{{Value: 0, Clients: 1}, {Value: 3, Clients: 2}, {Value: 7, Clients: 1}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func TestWrongValuesAreNamed(t *testing.T) {
	for text, param := range map[string]string{
		"": "values", "1\n": "values", "0\n0\n": "values", "1\n2\n3\n4\n5\n": "values",
		"1\n8\n": "line 2", "1\n-1\n": "line 2", "1\n\n": "line 2", "1\n2.5\n": "line 2", "x\n": "line 1",
		"1\n" + strings.Repeat("0", 100) + "\n": "line 2",
	} {
		var bad *fl.ParamError
		if _, err := parseValues(strings.NewReader(text), 7, 4); !errors.As(err, &bad) || bad.Param != param {
			t.Errorf("%q: %v, want it to name %s", text, err, param)
		}
	}
}

// Whatever a file holds, there is an error or as many clients as lines.
func FuzzValues(f *testing.F) {
	f.Add("3\n0\n7\n", int64(7))
	f.Add("1\n1", int64(1))
	f.Fuzz(func(t *testing.T, text string, bound int64) {
		p, err := parseValues(strings.NewReader(text), bound, 1000)
		if err != nil {
			return
		}
		if n := p.clients(); n < 2 || n > 1000 || n > strings.Count(text, "\n")+1 {
			t.Errorf("%d clients", n)
		}
		for i, c := range p {
			if c.Value < 0 || c.Value > bound || c.Clients < 1 || i > 0 && p[i-1].Value >= c.Value {
				t.Errorf("%v", p)
			}
		}
	})
}

// table3 sums the values of a file: with a large budget every mechanism is close to the sum.
func TestTableOfValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "values.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("10\n20\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := quickly(t, t.Context(), "table3", experiment.Env{Seed: 1, Quick: true, Jobs: 2}, "--values", path, "--bound", "100", "--epsilon", "10", "--relation", "zeroout")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != len(sumNames) || r.Validate() != nil {
		t.Fatalf("%d rows", len(r.Rows))
	}
	for _, row := range r.Rows {
		if row[1] != 10_000 || row[3] != int64(20) || row[6] != nil || !(row[5].(float64) < 1) {
			t.Errorf("%v", row)
		}
	}
}
