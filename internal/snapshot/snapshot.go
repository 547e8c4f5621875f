// Package snapshot is the container of an aggregator's binary form: four magic
// bytes that name the format and its version, the digest of the round, and a
// zstd frame (with its checksum) that holds the aggregator's own payload.
package snapshot

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// magic names the format; the digit is its version.
var magic = []byte("hga1")

const headerBytes = 4 + 32

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
})

// Encode wraps a payload. Equal arguments give equal bytes.
func Encode(round [32]byte, payload []byte) ([]byte, error) {
	enc, err := encoder()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	out := append(append(make([]byte, 0, headerBytes+len(payload)/2), magic...), round[:]...)
	return enc.EncodeAll(payload, out), nil
}

// Decode returns the payload of a snapshot of the given round. It refuses
// another format, another round, damaged data, and payloads above maxBytes.
func Decode(round [32]byte, maxBytes int, data []byte) ([]byte, error) {
	if len(data) < headerBytes || !bytes.Equal(data[:4], magic) {
		return nil, fmt.Errorf("snapshot: got %d bytes, must start with %q and a round digest", len(data), magic)
	}
	if !bytes.Equal(data[4:headerBytes], round[:]) {
		return nil, fmt.Errorf("snapshot: round digest: got %x, must be %x", data[4:headerBytes], round)
	}
	if len(data) == headerBytes {
		return nil, fmt.Errorf("snapshot: got nothing after the header, must be a zstd frame")
	}
	// The decoder's limit also bounds its window, which has a least size.
	const leastMemory = 64 << 10
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(maxBytes, leastMemory))))
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	defer dec.Close()
	payload, err := dec.DecodeAll(data[headerBytes:], nil)
	if err != nil {
		return nil, fmt.Errorf("snapshot: at most %d bytes: %w", maxBytes, err)
	}
	if len(payload) > maxBytes {
		return nil, fmt.Errorf("snapshot: got %d bytes, must be at most %d", len(payload), maxBytes)
	}
	return payload, nil
}
