package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Answers for people are no wider than 80 columns. The table of entries is as wide as their names.
func TestAnswersFitTheTerminal(t *testing.T) {
	file := written(t, t.TempDir())
	for _, line := range []string{
		"account amplify --dim 7850 --epsilon 4.51234 -n 60000", "account amplify --mechanism generic --epsilon 0.123456 -n 1000000 --delta 1.23e-10",
		"account compose --epsilon 1.23456 --count 1000", "account compose --kind gaussian --sigma 7.5 --count 1000 --delta 1.23e-10",
		"ledger show " + file, "ledger explain " + file, "ledger explain --entry 3 " + file,
	} {
		text, _, _ := strings.Cut(do(t, strings.Fields(line)...), "\nENTRY")
		for printed := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(printed, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", line, n, printed)
			}
		}
	}
}
