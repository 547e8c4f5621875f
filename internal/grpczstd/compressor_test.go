package grpczstd

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"google.golang.org/grpc/encoding"
)

func TestMessagesSurviveAndShrink(t *testing.T) {
	c := encoding.GetCompressor(Name)
	if c == nil {
		t.Fatal("zstd is not registered")
	}
	message := bytes.Repeat([]byte("gradient "), 50_000)
	var group sync.WaitGroup
	for range 4 { // compressors are shared by all streams
		group.Go(func() {
			for range 5 {
				var packed bytes.Buffer
				w, err := c.Compress(&packed)
				if err != nil {
					t.Error(err)
					return
				}
				_, writeErr := w.Write(message)
				if err := w.Close(); err != nil || writeErr != nil {
					t.Error(writeErr, err)
					return
				}
				if packed.Len() > len(message)/20 {
					t.Errorf("%d bytes packed to %d", len(message), packed.Len())
				}
				r, err := c.Decompress(&packed)
				if err != nil {
					t.Error(err)
					return
				}
				if back, err := io.ReadAll(r); err != nil || !bytes.Equal(back, message) {
					t.Errorf("read back %d of %d bytes: %v", len(back), len(message), err)
				}
				if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("after the end: %d, %v", n, err)
				}
			}
		})
	}
	group.Wait()
	r, err := c.Decompress(bytes.NewReader([]byte("not zstd")))
	if err == nil {
		_, err = io.ReadAll(r)
	}
	if err == nil {
		t.Error("garbage was decompressed")
	}
}
