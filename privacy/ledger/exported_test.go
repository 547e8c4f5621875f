package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hushgrad/hushgrad/fl"
)

// example is what version 1 of the form is, to the byte.
func example(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/exported.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// indented is the exported form as Export writes it.
func indented(t testing.TB, x *Exported) []byte {
	t.Helper()
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// What was read is what was written, with all of its fields.
func TestExportedFormIsRead(t *testing.T) {
	text := example(t)
	x, err := ReadExported(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := indented(t, x); !bytes.Equal(got, text) {
		t.Errorf("got\n%s", got)
	}
	all, keyboard := x.Purposes["all"], x.Purposes["keyboard"]
	if !math.IsInf(float64(all.Spent.Epsilon), 1) || keyboard.Spent.Central.Epsilon != 0.25 || keyboard.Entries[0].Central.Model != fl.Shuffle.String() {
		t.Errorf("got %+v", x)
	}
	if !keyboard.Entries[0].Counts() || all.Entries[0].Counts() || !all.Entries[1].Counts() {
		t.Error("the released entry counts, or another one does not")
	}
}

// Each change of the example makes it something that no ledger exports.
func TestExportedFormIsChecked(t *testing.T) {
	text := string(example(t))
	for _, c := range []struct{ param, old, changed string }{
		{"version", `"version": 1`, `"version": 2`},
		{"purpose", `"empty": {`, `"": {`},
		{"relation", `"relation": "replace-one"`, `"relation": "nearby"`},
		{"relation", `"epsilon": 1.5,
          "delta": 0,
          "relation": "replace-one"`, `"epsilon": 1.5, "delta": 0, "relation": ""`},
		{"epsilon", `"epsilon": 4`, `"epsilon": -4`},
		{"epsilon", `"epsilon": 0.1`, `"epsilon": "inf"`},
		{"delta", `"delta": 0.000002`, `"delta": 1`},
		{"delta", `"delta": 1e-9`, `"delta": -1e-9`},
		{"id", `"id": 1`, `"id": 0`},
		{"id", `"id": 3`, `"id": 2`},
		{"state", `"state": "released"`, `"state": "lost"`},
		{"model", `"model": "none"`, `"model": "some"`},
		{"trust", `"model": "shuffle",
            "epsilon": 0.25`, `"model": "local", "epsilon": 0.25`},
		{"digest", `"digest": "00`, `"digest": "0`},
		{"round_id", `"round_id": "r3"`, `"round_id": ""`},
		{"mechanism", `"mechanism": "coco"`, `"mechanism": "` + strings.Repeat("c", maxText+1) + `"`},
		{"receipt", `"receipt": "ok"`, `"receipt": "` + strings.Repeat("k", maxText+1) + `"`},
		{"JSON", "\n  }\n}\n", "\n  }\n}\n{}"},
		{"", `"receipt"`, `"receipts"`},
		{"", `"id": 2`, `"id": -2`},
		{"", "\n  }\n}\n", "\n  }\n"},
	} {
		changed := strings.Replace(text, c.old, c.changed, 1)
		if changed == text {
			t.Fatalf("the example has no %s", c.old)
		}
		_, err := ReadExported(strings.NewReader(changed))
		var p *fl.ParamError
		if err == nil || c.param != "" && (!errors.As(err, &p) || p.Param != c.param) {
			t.Errorf("%s in place of %s: error %v, want one for %q", c.changed, c.old, err, c.param)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadExported(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	var p *fl.ParamError
	if _, err := readExported(strings.NewReader(text), int64(len(text))-1); !errors.As(err, &p) || p.Param != "size" {
		t.Errorf("a text that is too long: %v", err)
	}
	if _, err := readExported(strings.NewReader(text), int64(len(text))); err != nil {
		t.Errorf("a text of the largest length: %v", err)
	}
}

// Whatever is read is written in a form that is read again, as the same.
func FuzzReadExported(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte(`{"version":1,"purposes":{}}`))
	f.Add([]byte(`{"version":1,"purposes":{"p":{"budget":{"epsilon":"inf","delta":0,"relation":"zero-out"},"spent":{"epsilon":0,"delta":0,"relation":"zero-out"},"entries":[]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := ReadExported(bytes.NewReader(text))
		if err != nil {
			return
		}
		first := indented(t, x)
		again, err := ReadExported(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("%v:\n%s", err, first)
		}
		if second := indented(t, again); !bytes.Equal(first, second) {
			t.Errorf("got\n%s\nafter\n%s", second, first)
		}
	})
}
