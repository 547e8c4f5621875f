package command

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	flag "github.com/spf13/pflag"
)

func TestHelpGroupsFlagsByTopic(t *testing.T) {
	f := flag.NewFlagSet("name", flag.ContinueOnError)
	f.SortFlags = false
	var first, second string
	Topic(f, "Water", func(f *flag.FlagSet) { f.StringVar(&first, "rain", "much", "`amount` of it") })
	f.Int("n", 0, "a number")
	Topic(f, "Air", func(f *flag.FlagSet) { f.Bool("wind", false, "whether there is wind") })
	Topic(f, "Water", func(f *flag.FlagSet) { f.StringVar(&second, "snow", "", "`amount` of it") })
	f.BoolP("help", "h", false, "print this")
	var out bytes.Buffer
	PrintFlags(&out, f)
	const want = `  -n int
        a number
  -h, -help
        print this

Water:
  -rain amount
        amount of it (default "much")
  -snow amount
        amount of it

Air:
  -wind
        whether there is wind
`
	if out.String() != want {
		t.Errorf("printed\n%s", out.String())
	}
	if err := Parse(f, []string{"-rain", "1", "-snow=2"}); err != nil || first != "1" || second != "2" || !Given(f, "rain") || Given(f, "n") {
		t.Errorf("%v: %q, %q", err, first, second)
	}
}

// Lines of help end before column 80, and lines with an indent of their own stay.
func TestWrap(t *testing.T) {
	text := strings.Repeat("εε δδδ ", 40) + "\n\n  as it is:   " + strings.Repeat("x", 90) + "\nend\nof it\n"
	lines := strings.Split(Wrap(text, "  "), "\n")
	if len(lines) != 7+1 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	for i, line := range lines[:4] {
		if n := utf8.RuneCountInString(line); n > 80 || i < 3 && n < 75 || !strings.HasPrefix(line, "  ") {
			t.Errorf("%q has %d columns", line, n)
		}
	}
	if lines[4] != "" || !strings.HasPrefix(lines[5], "    as it is:   xx") || lines[6] != "  end of it" {
		t.Errorf("%q", lines[4:])
	}
}
