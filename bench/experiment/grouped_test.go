package experiment_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestWholeNumbersAreGrouped(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1 000", 1_048_576: "1 048 576", 1e9: "1 000 000 000", 1e16: "1e+16"} {
		if got := experiment.Grouped(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}

// Long numbers of a text are grouped, and nothing else changes: no digits behind a point, and no part of a word.
func TestLongNumbersOfATextAreGrouped(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"100000000 clients: 892093": "100 000 000 clients: 892 093",
		"7382 sent, 62598 refused":  "7382 sent, 62 598 refused",
		"0.05607, by 3.14159":       "0.05607, by 3.14159",
		"2^16384 x12345 12345x":     "2^16384 x12345 12345x",
		"n=65536; (12345)":          "n=65 536; (12 345)",
		"00000 and 012345":          "00000 and 012345",
	} {
		if got := experiment.GroupedText(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}
