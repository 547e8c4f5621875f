// Package grpczstd registers zstd as a gRPC message compressor under the name "zstd". Use it
// to send shorter models and reports. Start by importing it: a server then reads compressed
// messages and answers in kind. A client asks for it by grpc.UseCompressor(grpczstd.Name).
package grpczstd

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
)

// Name is the compressor's name in the grpc-encoding header.
const Name = "zstd"

// maxWindow bounds what one decoder may be made to allocate. gRPC bounds the
// size of the decompressed message itself.
const maxWindow = 8 << 20

func init() { encoding.RegisterCompressor(&compressor{}) }

// compressor keeps idle encoders and decoders: their tables are large.
type compressor struct {
	encoders sync.Pool // of *zstd.Encoder
	decoders sync.Pool // of *zstd.Decoder
}

func (*compressor) Name() string { return Name }

func (c *compressor) Compress(w io.Writer) (io.WriteCloser, error) {
	if enc, ok := c.encoders.Get().(*zstd.Encoder); ok {
		enc.Reset(w)
		return &writer{Encoder: enc, home: &c.encoders}, nil
	}
	enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	return &writer{Encoder: enc, home: &c.encoders}, nil
}

type writer struct {
	*zstd.Encoder
	home *sync.Pool
}

func (w *writer) Close() error {
	err := w.Encoder.Close()
	w.home.Put(w.Encoder)
	return err
}

func (c *compressor) Decompress(r io.Reader) (io.Reader, error) {
	if dec, ok := c.decoders.Get().(*zstd.Decoder); ok {
		if err := dec.Reset(r); err != nil {
			return nil, err
		}
		return &reader{dec: dec, home: &c.decoders}, nil
	}
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return &reader{dec: dec, home: &c.decoders}, nil
}

// reader gives its decoder back when the message has been read to its end. One
// that is abandoned earlier is left to the garbage collector.
type reader struct {
	dec  *zstd.Decoder
	home *sync.Pool
}

func (r *reader) Read(p []byte) (int, error) {
	if r.dec == nil {
		return 0, io.EOF
	}
	n, err := r.dec.Read(p)
	if err == io.EOF {
		r.home.Put(r.dec)
		r.dec = nil
	}
	return n, err
}
