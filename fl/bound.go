package fl

import (
	"math"
	"strconv"
	"strings"
)

// boundSlack is what the arithmetic of an ε may be off by, relative to it. A number that is this
// close to one of fewer digits is written as that one: 0.1 + 0.2 as 0.3.
const boundSlack = 1e-12

// FormatUp writes an upper bound x, such as an ε, rounded up to the given number of significant digits.
// x is at least 0 and digits is in [1, 15]. Zeros at the end are left out, as %g does. Rounding to
// the nearest would promise more than what holds.
func FormatUp(x float64, digits int) string { return boundText(x, digits, 1) }

// FormatDown writes a lower bound x, rounded down to the given number of significant digits.
// x is at least 0 and digits is in [1, 15]. Zeros at the end are left out, as %g does.
func FormatDown(x float64, digits int) string { return boundText(x, digits, 0) }

// RoundDown returns the number that FormatDown writes. Use it for an ε that a program chooses and a user
// types into another call: printed with these digits it is exact, so that what was promised for it holds.
func RoundDown(x float64, digits int) float64 { return parseBound(FormatDown(x, digits)) }

// boundText drops the digits of x behind the last one that is kept, and adds units of that one if x was
// changed.
func boundText(x float64, digits int, units int64) string {
	rounded := parseBound(strconv.FormatFloat(x, 'e', digits-1, 64))
	mantissa, exponent, finite := strings.Cut(strconv.FormatFloat(x, 'e', 17, 64), "e")
	if finite && math.Abs(x-rounded) > boundSlack*x {
		power, _ := strconv.Atoi(exponent) // FormatFloat wrote it, and the digits
		cut, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1)[:digits], 10, 64)
		rounded = parseBound(strconv.FormatInt(cut+units, 10) + "e" + strconv.Itoa(power-digits+1))
	}
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}

// parseBound reads a number that boundText has written. What overflows is infinite, which stays a
// bound.
func parseBound(number string) float64 {
	x, _ := strconv.ParseFloat(number, 64)
	return x
}
