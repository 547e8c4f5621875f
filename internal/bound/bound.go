// Package bound writes upper and lower bounds as text. Use it wherever a privacy parameter is
// printed with fewer digits than it has: rounding to the nearest may promise more than what
// holds. Start with [Above]. An ε that a user types in again is chosen with [Down].
package bound

import (
	"math"
	"strconv"
	"strings"
)

// slack is what the arithmetic of an ε may be off by, relative to it. A number that is this
// close to one of fewer digits is written as that one: 0.1 + 0.2 as 0.3.
const slack = 1e-12

// Above writes an upper bound x, rounded up to the given number of significant digits.
// x is at least 0 and digits is in [1, 15]. Zeros at the end are left out, as %g does.
func Above(x float64, digits int) string { return text(x, digits, 1) }

// Below writes a lower bound x, rounded down to the given number of significant digits.
// x is at least 0 and digits is in [1, 15]. Zeros at the end are left out, as %g does.
func Below(x float64, digits int) string { return text(x, digits, 0) }

// Down returns the number that [Below] writes. Use it for an ε that a program chooses and a user types
// into another call: printed with these digits it is exact, so that what was promised for it holds.
func Down(x float64, digits int) float64 { return parse(Below(x, digits)) }

// text drops the digits of x behind the last one that is kept, and adds units of that one if x was
// changed.
func text(x float64, digits int, units int64) string {
	rounded := parse(strconv.FormatFloat(x, 'e', digits-1, 64))
	mantissa, exponent, finite := strings.Cut(strconv.FormatFloat(x, 'e', 17, 64), "e")
	if finite && math.Abs(x-rounded) > slack*x {
		power, _ := strconv.Atoi(exponent) // FormatFloat wrote it, and the digits
		cut, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1)[:digits], 10, 64)
		rounded = parse(strconv.FormatInt(cut+units, 10) + "e" + strconv.Itoa(power-digits+1))
	}
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}

// parse reads a number that this package has written. What overflows is infinite, which stays a
// bound.
func parse(number string) float64 {
	x, _ := strconv.ParseFloat(number, 64)
	return x
}
