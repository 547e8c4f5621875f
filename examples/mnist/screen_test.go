package main

import (
	"io"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
)

// On a terminal all that a run leaves, with a warning, the line that was typed and the next prompt, fits 24 lines of 80 columns. Blocks are there and
// nowhere else.
func TestTheWholeRunFitsATerminal(t *testing.T) {
	const blocks = "▁▂▃▄▅▆▇█"
	for _, live := range []bool{true, false} {
		o, model, run, data := small(t, "auto", "--trust", "nobody", "--seed", "0", "--features", "edges-centred")
		o.live = live
		var out strings.Builder
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		fitsATerminal(t, text)
		if table := strings.Contains(text, "\nround  accuracy"); table == live || strings.ContainsAny(text, blocks) != live {
			t.Errorf("on a terminal: %t\n%s", live, text)
		}
		if !live {
			continue
		}
		if warning := strings.Count(text, "       warning: "); strings.Count(text, "\n")+2*(1-warning) > 21 {
			t.Errorf("%d lines, %d warnings:\n%s", strings.Count(text, "\n"), warning, text)
		}
		for _, want := range []string{"\ntrusted            nobody: local ε = 5, 3 rounds of 300 clients\n", " of 3 rounds)\n", "\ntest accuracy ", "(chance 0.10)\n", "\n  without privacy ", "\nupload per report "} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}
