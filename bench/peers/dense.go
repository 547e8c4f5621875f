package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/klauspost/compress/zstd"
)

// dense sends every coordinate as a little-endian float32, compressed with zstd
// at its default level. A ternary vector is mostly zero bytes and compresses
// well; a vector of arbitrary real numbers would not.
type dense struct {
	compressor   *zstd.Encoder
	decompressor *zstd.Decoder
	raw          []byte // scratch, 4·dim bytes
	total        []float64
}

func newCompressor() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
}

func newDense(t task, _ *rand.ChaCha8) (contender, error) {
	raw := make([]byte, 4*t.Dim)
	compressor, err := newCompressor()
	if err != nil {
		return nil, fmt.Errorf("peers: zstd: %w", err)
	}
	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("peers: zstd: %w", err)
	}
	return &dense{compressor: compressor, decompressor: decompressor, raw: raw, total: make([]float64, t.Dim)}, nil
}

func (c *dense) about() about {
	return about{Name: "dense float32, zstd", Sends: "whole vector", Sum: "exact", Guarantee: "none"}
}

// join compresses one byte, because zstd allocates its tables at first use.
func (c *dense) join() error {
	compressor, err := newCompressor()
	if err != nil {
		return err
	}
	compressor.EncodeAll([]byte{0}, nil)
	return nil
}

func (c *dense) encode(x fl.Ternary) (report, error) {
	clear(c.raw)
	for i, j := range x.Index {
		binary.LittleEndian.PutUint32(c.raw[4*j:], math.Float32bits(float32(x.Sign[i])))
	}
	return report{parts: [][]byte{c.compressor.EncodeAll(c.raw, nil)}}, nil
}

func (c *dense) add(r report) error {
	raw, err := c.decompressor.DecodeAll(r.parts[0], c.raw[:0])
	if err != nil {
		return fmt.Errorf("peers: zstd: %w", err)
	}
	if len(raw) != 4*len(c.total) {
		return fmt.Errorf("peers: dense: got %d bytes, must be %d", len(raw), 4*len(c.total))
	}
	for j := range c.total {
		c.total[j] += float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:])))
	}
	return nil
}

func (c *dense) sum() ([]float64, error) { return append([]float64(nil), c.total...), nil }
