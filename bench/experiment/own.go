package experiment

import (
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// FlagWith names the flag of mechanisms that stand beside an experiment's own.
const FlagWith = "with"

// Entries is the value that stands for the number of entries that a client's vector has where the mechanism runs.
const Entries = "s"

// Own is a mechanism that a run has beside the experiment's own: any that the program registers.
type Own struct {
	Label     string // as it was typed
	Mechanism string // registered name

	params []struct{ name, value string }
}

// BindWith adds the flag --with, which may be given several times, and returns what reads it.
func BindWith(f *flag.FlagSet) func() ([]Own, error) {
	given := f.StringArray(FlagWith, nil, "`mechanism` beside these, as NAME or NAME:PARAMETER=VALUE,…: any that this program registers. The value "+Entries+" is the number of a client's entries. Several: the flag again")
	return func() ([]Own, error) {
		var out []Own
		for _, text := range *given {
			o, err := parseOwn(text)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(out, func(other Own) bool { return other.Label == o.Label }) {
				return nil, fl.Invalid("--"+FlagWith, text, "must be given once")
			}
			out = append(out, o)
		}
		return out, nil
	}
}

func parseOwn(text string) (Own, error) {
	name, rest, more := strings.Cut(text, ":")
	if !slices.Contains(fl.Mechanisms(), name) {
		return Own{}, fl.Invalid("--"+FlagWith, text, "must begin with a registered mechanism, one of %s; a program of yours has others: see docs/compare-your-mechanism.md", strings.Join(fl.Mechanisms(), ", "))
	}
	o := Own{Label: text, Mechanism: name}
	if !more {
		return o, nil
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" || value == "" || o.has(key) {
			return Own{}, fl.Invalid("--"+FlagWith, text, "must be NAME:PARAMETER=VALUE,PARAMETER=VALUE, each parameter once")
		}
		o.params = append(o.params, struct{ name, value string }{key, value})
	}
	return o, nil
}

func (o Own) has(param string) bool {
	return slices.ContainsFunc(o.params, func(p struct{ name, value string }) bool { return p.name == param })
}

// Params are the parameters of a round whose clients have vectors with that number of entries: integers, real numbers
// and texts.
func (o Own) Params(entries int) fl.Params {
	if len(o.params) == 0 {
		return nil
	}
	out := fl.Params{}
	for _, p := range o.params {
		if p.value == Entries {
			out[p.name] = fl.Int(entries)
		} else if n, err := strconv.Atoi(p.value); err == nil {
			out[p.name] = fl.Int(n)
		} else if x, err := strconv.ParseFloat(p.value, 64); err == nil {
			out[p.name] = fl.Real(x)
		} else {
			out[p.name] = fl.Text(p.value)
		}
	}
	return out
}

// OfEntries says whether a mechanism counts entries: the scale of its round is the worth of one. Of any other it is the
// norm to which vectors are clipped.
func OfEntries(m fl.Mechanism) bool {
	switch m.(type) {
	case fl.SparseMechanism, fl.KeyValueMechanism:
		return true
	}
	return false
}
