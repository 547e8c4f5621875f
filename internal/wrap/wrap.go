// Package wrap breaks text into lines for a terminal. Use it for sentences that a command prints; tables
// have columns of their own. Start with Text.
package wrap

import (
	"strings"
	"unicode/utf8"
)

// columns is the width of the terminals that are there everywhere.
const columns = 80

// Text breaks text into lines of at most 80 columns with an indent. A number keeps its percent sign.
// Lines that begin with a space stay as they are.
func Text(text, indent string) string {
	var out strings.Builder
	used := 0 // columns of the last line
	end := func() {
		if used > 0 {
			out.WriteByte('\n')
		}
		used = 0
	}
	for line := range strings.Lines(text) {
		words := words(line)
		if len(words) == 0 || line[0] == ' ' {
			end()
			out.WriteString(strings.TrimRight(indent+line, " \n") + "\n")
			continue
		}
		for _, word := range words {
			width := utf8.RuneCountInString(word)
			if used > 0 && used+1+width > columns {
				end()
			}
			if used == 0 {
				out.WriteString(indent)
				used = len(indent)
			} else {
				out.WriteByte(' ')
				used++
			}
			out.WriteString(word)
			used += width
		}
	}
	end()
	return out.String()
}

// words returns what no line is broken within.
func words(line string) (out []string) {
	for _, word := range strings.Fields(line) {
		if last := len(out) - 1; word == "%" && last >= 0 {
			out[last] += " %"
			continue
		}
		out = append(out, word)
	}
	return out
}
