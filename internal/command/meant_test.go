package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	flag "github.com/spf13/pflag"
)

func TestSimilar(t *testing.T) {
	names := []string{"nobody", "own-site", "shuffler", "two-servers", "server"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"two servers", []string{"two-servers"}}, {"Two_Servers", []string{"two-servers"}}, {"twoservers", []string{"two-servers"}},
		{"shufler", []string{"shuffler"}}, {"servers", []string{"server"}}, {"own", []string{"own-site"}}, {"none", nil}, {"x", nil}, {"", nil},
	} {
		if got := Similar(names, c.name); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Similar([]string{"count", "counts", "counter"}, "counts"); !slices.Equal(got, []string{"counts", "count", "counter"}) {
		t.Errorf("the likeliest is not the first: %q", got)
	}
}

// What is written in another way than a flag takes it is answered with how to write it.
func TestAWrongValueSaysWhatToType(t *testing.T) {
	for _, c := range []struct{ arg, says string }{
		{"--clients=1e6", "must be a whole number: type 1000000, see"},
		{"--clients=60,000", "must be a whole number: type 60000, see"},
		{"--clients=1 000 000", "must be a whole number: type 1000000, see"},
		{"--clients=12,5", "must be a whole number, see"},
		{"--clients=0.5", "must be a whole number, see"},
		{"--clients=many", "must be a whole number, see"},
		{"--seed=-1", "must be a whole number of at least 0, see"},
		{"--seed=1e3", "must be a whole number of at least 0: type 1000, see"},
		{"--budget=0,5", "must be a number: type 0.5, see"},
		{"--budget=10%", "must be a number: type 0.1, see"},
		{"--budget=1,2,3", "must be a number, see"},
		{"--deadline=60", "such as 90s: type 60s, see"},
		{"--deadline=2 days", "such as 90s: type 48h, see"},
		{"--deadline=1d", "such as 90s: type 24h, see"},
		{"--deadline=soon", "such as 90s, see"},
		{"--trust=two servers", "must be one of nobody, two-servers (did you mean two-servers?), see"},
		{"--Budgt=1", `got "--Budgt", rule: must be a flag of the command (did you mean --budget?), see`},
	} {
		f := flag.NewFlagSet("name", flag.ContinueOnError)
		f.SetOutput(&bytes.Buffer{})
		f.Int("clients", 0, "")
		f.Float64("budget", 0, "")
		f.Uint64("seed", 0, "")
		f.Duration("deadline", time.Second, "")
		trust := ""
		OneOf(f, &trust, "trust", "", []string{"nobody", "two-servers"}, "")
		if err := Parse(f, []string{c.arg}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.arg, err, c.says)
		}
	}
}
