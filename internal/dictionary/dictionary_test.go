package dictionary

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestNamesHaveTheNumbersOfTheirLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("apple\npear\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(file, 3)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Lookup("pear"); err != nil || n != 1 || d.Name(0) != "apple" || d.Name(2) != "2" || len(d.Names()) != 2 {
		t.Errorf("pear is %d, error %v; names %q, %q of %q", n, err, d.Name(0), d.Name(2), d.Names())
	}
	numbers, err := Open("", 3)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := numbers.Lookup("2"); err != nil || n != 2 || numbers.Name(1) != "1" || numbers.Names() != nil {
		t.Errorf("2 is %d, error %v", n, err)
	}
	for name, d := range map[string]*Dictionary{"plum": d, "3": numbers, "-1": numbers, "x": numbers} {
		var p *fl.ParamError
		if _, err := d.Lookup(name); !errors.As(err, &p) || p.Param != "key" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestBadDictionaries(t *testing.T) {
	for text, rule := range map[string]string{"a\nb\na\n": "line 3 of keys repeats it", "a\nb\nc\n": "at most dim = 2 lines"} {
		var p *fl.ParamError
		if _, err := Read(strings.NewReader(text), "keys", 2); !errors.As(err, &p) || p.Param != "--keys" || !strings.Contains(err.Error(), rule) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	var p *fl.ParamError
	if _, err := Open(filepath.Join(t.TempDir(), "absent"), 2); !errors.As(err, &p) || p.Param != "--keys" {
		t.Errorf("no file: error %v", err)
	}
}
