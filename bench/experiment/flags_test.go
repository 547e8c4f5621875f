package experiment_test

import (
	"bytes"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

func TestRelationFlag(t *testing.T) {
	for args, want := range map[string]fl.Relation{
		"": fl.ZeroOut, "--relation=zero-out": fl.ZeroOut, "--relation=zeroout": fl.ZeroOut,
		"--relation=replace-one": fl.ReplaceOne, "--relation=replaceone": fl.ReplaceOne,
		"--relation=add": 0, "--relation=": 0,
	} {
		var out bytes.Buffer
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		f.SetOutput(&out)
		got := experiment.RelationFlag(f, fl.ZeroOut)
		err := command.Parse(f, strings.Fields(args))
		if want == 0 {
			if err == nil || *got != fl.ZeroOut {
				t.Errorf("%q: %v, error %v, want an error", args, *got, err)
			}
		} else if err != nil || *got != want {
			t.Errorf("%q: %v, error %v, want %v", args, *got, err, want)
		}
		out.Reset()
		command.PrintFlags(&out, f)
		if !strings.Contains(out.String(), "(default zero-out)") {
			t.Errorf("help: %s", out.String())
		}
	}
}
