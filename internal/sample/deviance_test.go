package sample

import (
	"math"
	"testing"
)

// Computed independently by mpmath with 50 digits.
func TestDevianceAndStirlingErrorKeepTheirDigits(t *testing.T) {
	requireClose(t, "deviance", deviance(0.0, 3.0, -3.0), 3.0, 2e-15)
	requireClose(t, "deviance", deviance(5.0, 4.0, 1.0), 0.11571775657104877883, 2e-15)
	requireClose(t, "deviance", deviance(5.0, 45.0, -40.0), 29.013877113318903086, 2e-15)
	requireClose(t, "deviance", deviance(1000000000000000.0, 999999999000000.0, 1000000.0), 0.00050000000033333333358, 2e-15)
	requireClose(t, "deviance", deviance(1000000000000000.0, 1000000030000000.0, -30000000.0), 0.4499999910000002025, 2e-15)
	requireClose(t, "deviance", deviance(100.0, 80.0, 20.0), 2.3143551314209755766, 2e-15)
	requireClose(t, "deviance", deviance(100.0, 70.0, 30.0), 5.6674943938732378913, 2e-15)
	requireClose(t, "deviance", deviance(1e-06, 2.000001, -2.0), 1.9999854913417614759, 2e-15)
	requireClose(t, "Stirling", stirlingError(1e-06), 5.9888309840731798623, 1e-12)
	requireClose(t, "Stirling", stirlingError(0.5), 0.15342640972002734529, 1e-12)
	requireClose(t, "Stirling", stirlingError(3.0), 0.027677925684998339149, 1e-12)
	requireClose(t, "Stirling", stirlingError(9.9), 0.008414653894090263252, 1e-12)
	requireClose(t, "Stirling", stirlingError(10.0), 0.0083305634333628712565, 5e-15)
	requireClose(t, "Stirling", stirlingError(100.0), 0.00083333055563491468338, 1e-15)
	requireClose(t, "Stirling", stirlingError(1000000000.0), 8.3333333333333333331e-11, 1e-15)
}

func TestLog1mexp(t *testing.T) {
	requireClose(t, "1e-12", log1mexp(1e-12), -27.631021115929048228, 1e-15)
	requireClose(t, "0.5", log1mexp(0.5), -0.93275212956718857189, 1e-15)
	requireClose(t, "0.75", log1mexp(0.75), -0.63935346504035393971, 1e-14)
	requireClose(t, "50", log1mexp(50), -math.Exp(-50), 1e-15)
}
