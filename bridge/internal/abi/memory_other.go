//go:build !linux

package abi

import "github.com/hushgrad/hushgrad/fl"

// OpenMemory returns a *fl.ParamError: memory is shared on Linux alone.
func OpenMemory(descriptor int) (*Memory, error) {
	return nil, fl.Invalid("memory", descriptor, "must not be given on this system")
}
