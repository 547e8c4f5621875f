package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// The idx format is a big-endian header of 32-bit words, a magic number and one
// length per dimension, and then the values. The third byte of the magic number
// is the value type (8: unsigned byte), the fourth the number of dimensions.
const (
	magicImages = 0x0803
	magicLabels = 0x0801
	magicShorts = 0x0b01 // labels of two bytes
)

// Limits on what a header may declare. They leave room for MNIST and the sets
// made in its image (280 000 digits of 28×28) and keep a file below 256 MiB.
const (
	maxItems  = 1 << 20
	maxSide   = 1 << 8
	maxPixels = 1 << 28
)

// Images holds the content of one idx3 file.
type Images struct {
	// Count is the number of pictures; Rows and Cols their size in pixels.
	Count, Rows, Cols int
	// Pixels holds Count·Rows·Cols grey values, picture after picture and row
	// after row: 0 for paper, 255 for ink.
	Pixels []uint8
}

// readImages reads an idx3 file of unsigned bytes up to its end, plain or
// compressed with gzip (it looks which). O(size of the content) time and memory.
//
// It returns an error for another magic number, a length outside the limits of
// the package documentation, a stream that ends early (wrapping
// io.ErrUnexpectedEOF) or goes on after the last pixel, and broken compression.
func readImages(r io.Reader) (*Images, error) {
	r, err := plain(r)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	_, dims, err := readHeader(r, []limit{{"items", maxItems}, {"rows", maxSide}, {"columns", maxSide}}, magicImages)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	im := &Images{Count: dims[0], Rows: dims[1], Cols: dims[2]}
	// At most 2^20 · 2^8 · 2^8 = 2^36, which int holds on 64-bit machines only.
	size := int64(im.Count) * int64(im.Rows) * int64(im.Cols)
	if size > maxPixels {
		return nil, fmt.Errorf("images: %w", fl.Invalid("pixels", size, "must be at most %d, not %d×%d×%d", maxPixels, im.Count, im.Rows, im.Cols))
	}
	if im.Pixels, err = readBody(r, size); err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	return im, nil
}

// readLabels reads an idx1 file of unsigned bytes, or of numbers of two bytes for more than 256
// classes, up to its end, plain or compressed with gzip, and returns one label per item. O(size of
// the content) time and memory. It returns an error where readImages does.
func readLabels(r io.Reader) ([]int, error) {
	r, err := plain(r)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	magic, dims, err := readHeader(r, []limit{{"items", maxItems}}, magicLabels, magicShorts)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	size := 1
	if magic == magicShorts {
		size = 2
	}
	body, err := readBody(r, int64(size*dims[0]))
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	labels := make([]int, dims[0])
	for i := range labels {
		for _, b := range body[size*i : size*(i+1)] {
			labels[i] = labels[i]<<8 | int(b)
		}
	}
	return labels, nil
}

// plain returns the uncompressed content of r. No idx file can be taken for a
// gzip one: it starts with two zero bytes.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	start, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("gzip header: %w", truncated(err))
	}
	return z, nil
}

// A limit is the largest length that a header may declare in one dimension.
type limit struct {
	name string
	max  uint32
}

// readHeader reads one of the magic numbers and one length in [1, max] per limit.
func readHeader(r io.Reader, limits []limit, magics ...uint32) (magic uint32, dims []int, err error) {
	words := make([]uint32, 1+len(limits))
	if err := binary.Read(r, binary.BigEndian, words); err != nil {
		return 0, nil, fmt.Errorf("header of %d bytes: %w", 4*len(words), truncated(err))
	}
	if !slices.Contains(magics, words[0]) {
		return 0, nil, fl.Invalid("magic number", fmt.Sprintf("%#08x", words[0]), "must be %#08x, as idx files have it, with gzip or without", magics[0])
	}
	dims = make([]int, len(limits))
	for i, l := range limits {
		if words[i+1] < 1 || words[i+1] > l.max {
			return 0, nil, fl.Invalid(l.name, words[i+1], "must be in [1, %d]", l.max)
		}
		dims[i] = int(words[i+1])
	}
	return words[0], dims, nil
}

// readBody reads exactly size bytes and the end of r. It never holds more than
// a small multiple of what has arrived, nor reads more than size+1 bytes. The
// extra read also makes gzip compare its checksum.
func readBody(r io.Reader, size int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return nil, fmt.Errorf("values: got %d of %d bytes: %w", len(body), size, truncated(err))
	}
	if n := int64(len(body)); n < size {
		return nil, fmt.Errorf("%w: %w", fl.Invalid("values", n, "must be %d bytes", size), truncated(io.EOF))
	} else if n > size {
		return nil, fl.Invalid("values", n, "must be %d bytes and no more", size)
	}
	return body, nil
}

// truncated says that the file ends too early, where it does.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends too early; download or copy it again: %w", io.ErrUnexpectedEOF)
	}
	return err
}
