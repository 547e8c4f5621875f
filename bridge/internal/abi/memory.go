package abi

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// inMemory marks the length of a payload that lies in the memory of the two.
const inMemory = 1 << 63

// Memory is shared by the two ends of a pipe. The end that asks writes a payload there and waits
// for the answer. So a gradient of a million coordinates need not pass through the pipe, which
// takes about as long as to encode it. A nil Memory holds nothing.
type Memory struct{ mapped []byte }

// first returns the first n bytes.
func (m *Memory) first(n uint64) ([]byte, error) {
	var mapped []byte
	if m != nil {
		mapped = m.mapped
	}
	if n > uint64(len(mapped)) {
		return nil, fl.Invalid("payload", fmt.Sprintf("%d bytes in memory", n), "must have at most %d, which the two share", len(mapped))
	}
	return mapped[:n], nil
}
