package wrap

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Lines have at most 80 columns, and lines with an indent of their own stay.
func TestText(t *testing.T) {
	text := strings.Repeat("εε δδδ ", 40) + "\n\n  as it is:   " + strings.Repeat("x", 90) + "\nend\nof it\n"
	lines := strings.Split(Text(text, "  "), "\n")
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

// A number stays with its percent sign, and a percent sign of its own is a word.
func TestPercentSignsFollowTheirNumbers(t *testing.T) {
	text := strings.Repeat("x", 76) + " 98 % of it"
	if got, want := Text(text, ""), strings.Repeat("x", 76)+"\n98 % of it\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Text("% is a sign", ""); got != "% is a sign\n" {
		t.Errorf("got %q", got)
	}
}
