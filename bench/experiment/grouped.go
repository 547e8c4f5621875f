package experiment

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// Grouped writes a whole number with spaces between thousands.
func Grouped(v float64) string {
	if v >= 1e15 {
		return fmt.Sprintf("%.3g", v)
	}
	text := ""
	for n := int64(math.Round(v)); ; n /= 1000 {
		if n < 1000 {
			return fmt.Sprint(n) + text
		}
		text = fmt.Sprintf(" %03d", n%1000) + text
	}
}

// long is a whole number of at least five digits, behind what does not belong to it.
var long = regexp.MustCompile(`(^|[^\w.^])([0-9]{5,15})\b`)

// GroupedText writes the whole numbers of a text that have at least five digits as Grouped does. Digits
// behind a point stay together.
func GroupedText(text string) string {
	return long.ReplaceAllStringFunc(text, func(found string) string {
		parts := long.FindStringSubmatch(found)
		n, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || parts[2][0] == '0' {
			return found
		}
		return parts[1] + Grouped(float64(n))
	})
}
