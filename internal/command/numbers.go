package command

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// thousands is a whole number whose digits are in groups of three.
var thousands = regexp.MustCompile(`^[0-9]{1,3}([ ,.'_][0-9]{3})+$`)

// asNumber returns how to write what was likely meant by a text that is no number of a type of pflag, and nothing where that
// is not clear.
func asNumber(kind, text string) string {
	text = strings.TrimSpace(text)
	switch kind {
	case "int", "int64", "uint64":
		if thousands.MatchString(text) {
			return strings.NewReplacer(" ", "", ",", "", ".", "", "'", "", "_", "").Replace(text)
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 && (v >= 0 || kind != "uint64") {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	case "float64":
		if share, cut := strings.CutSuffix(text, "%"); cut {
			if v, err := strconv.ParseFloat(strings.TrimSpace(share), 64); err == nil {
				return strconv.FormatFloat(v/100, 'g', -1, 64)
			}
		}
		if dotted := strings.Replace(text, ",", ".", 1); dotted != text {
			if _, err := strconv.ParseFloat(dotted, 64); err == nil {
				return dotted
			}
		}
	case "duration":
		count, unit := text, ""
		if at := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); at > 0 {
			count, unit = text[:at], strings.TrimSpace(text[at:])
		}
		n, err := strconv.Atoi(count)
		switch {
		case err != nil || n > 1<<20:
		case unit == "":
			return count + "s"
		case strings.HasPrefix("days", unit):
			return strconv.Itoa(24*n) + "h"
		}
	}
	return ""
}
