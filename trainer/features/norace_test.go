//go:build !race

package features_test

const race = false
