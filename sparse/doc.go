// Package sparse is what Collision and CoCo have in common: they read the same
// parameters from a round, send the same reports (a hash seed and a slot),
// count the same hits and estimate from them by the same linear formulas. A
// mechanism adds its randomizer and its [Calibration].
package sparse
