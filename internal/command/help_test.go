package command

import (
	"bytes"
	"testing"

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
	f.StringVar(new(string), "ice", "", "there is some, of a `kind`")
	f.Lookup("ice").NoOptDefVal = "hail"
	var out bytes.Buffer
	PrintFlags(&out, f)
	const want = `  --n int
        a number
  -h, --help
        print this
  --ice[=kind]
        there is some, of a kind

Water:
  --rain amount
        amount of it (default "much")
  --snow amount
        amount of it

Air:
  --wind
        whether there is wind
`
	if out.String() != want {
		t.Errorf("printed\n%s", out.String())
	}
	if err := Parse(f, []string{"--rain", "1", "--snow=2"}); err != nil || first != "1" || second != "2" || !Given(f, "rain") || Given(f, "n") {
		t.Errorf("%v: %q, %q", err, first, second)
	}
}
