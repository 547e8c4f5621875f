// Package snapshot is the container of an aggregator's binary form. Package count uses it;
// use it directly only to look into a snapshot. Start with [Encode] and [Decode].
//
// A snapshot is four magic bytes that name the format and its version, the digest of the
// round, and a zstd frame (with its checksum) that holds the aggregator's own payload.
package snapshot

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/hushgrad/hushgrad/fl"
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

// Decode returns the payload of a snapshot of the given round. It refuses another format,
// another round, damaged data and payloads above maxBytes, before it allocates them. The
// error is a *fl.ParamError (wrapped).
func Decode(round [32]byte, maxBytes int, data []byte) ([]byte, error) {
	refuse := func(param string, got any, rule string, args ...any) ([]byte, error) {
		return nil, fmt.Errorf("snapshot: %w", fl.Invalid(param, got, rule, args...))
	}
	switch {
	case len(data) <= headerBytes:
		return refuse("length", len(data), "must be above %d, the bytes of the header", headerBytes)
	case !bytes.Equal(data[:4], magic):
		return refuse("format", fmt.Sprintf("%x", data[:4]), "must be %x", magic)
	case !bytes.Equal(data[4:headerBytes], round[:]):
		return refuse("round", fmt.Sprintf("%x", data[4:headerBytes]), "must be the digest %x", round)
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
		return refuse("payload", err, "must be an undamaged zstd frame of at most %d bytes", maxBytes)
	}
	if len(payload) > maxBytes {
		return refuse("payload", len(payload), "must have at most %d bytes", maxBytes)
	}
	return payload, nil
}
