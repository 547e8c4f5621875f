package main

import (
	"io"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
)

// A run whose means cannot be told from their noise is warned of when its accuracy hardly grows, too. With 100 reports in each of 60 rounds a
// quarter of the rounds shows no signal, and the model learns. Both runs are seeded.
func TestOnlyARunThatGainsNothingIsCalledLost(t *testing.T) {
	if !*long {
		t.Skip("takes seconds")
	}
	for line, warned := range map[string]bool{
		"--clients 2000 --rounds 8 --budget 0.1 --force": true,
		"--clients 6000 --rounds 60 --budget 4":          false,
	} {
		var out strings.Builder
		flags := append(strings.Fields(line), "--seed", "7", "--features", "edges-centred")
		if code := command.Run(t.Context(), "mnist", mnist, flags, command.Streams{Out: &out, Err: io.Discard}); code != 0 || strings.Contains(out.String(), "\nwarning ") != warned {
			t.Errorf("%s: exit code %d, warned %t:\n%s", line, code, !warned, &out)
		}
	}
}
