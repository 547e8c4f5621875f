package boltfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"

	"github.com/hushgrad/hushgrad/fl"
)

// A bbolt file begins with two headers, each in a page of its own, that are written in turn.
// bbolt falls back to the older one when the newer is damaged, and thereby forgets the last
// transaction. These files must not: they need both headers. Writing one is a single write within a
// sector of the disk, so that a crash leaves none half written.
const (
	headerOffset = 16 // after the page's own header
	headerSize   = 64
	headerMagic  = 0xED0CDAED
	noFreelist   = -1 // instead of a page, in files that keep no list of free pages
)

// Header is the part of a bbolt header that is checked here.
type Header struct {
	PageSize    int64  // in bytes
	root        uint64 // the page of the root bucket
	freelist    int64  // its page
	pages       int64  // in use
	Transaction uint64
}

// Newest returns the header that was written last, if both are sound and the file is as long as they
// say. It reads nothing beyond the end of the file, which in the mapped memory would be a fault.
func (k Kind) Newest(file *os.File) (Header, error) {
	first, err := k.readHeader(file, 0)
	if err != nil {
		return Header{}, err
	}
	second, err := k.readHeader(file, first.PageSize)
	if err != nil {
		return Header{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return Header{}, err
	}
	if first.PageSize != second.PageSize || max(first.Transaction, second.Transaction)-min(first.Transaction, second.Transaction) != 1 {
		return Header{}, fmt.Errorf("%w: the headers contradict each other", k.Damaged)
	}
	if need := max(first.pages, second.pages) * first.PageSize; info.Size() < need {
		return Header{}, fmt.Errorf("%w: %w", k.Damaged, fl.Invalid("size", info.Size(), "must be at least %d bytes", need))
	}
	if first.Transaction > second.Transaction {
		return first, nil
	}
	return second, nil
}

var errChecksum = errors.New("wrong checksum")

func (k Kind) readHeader(file *os.File, page int64) (Header, error) {
	var b [headerSize]byte
	if _, err := file.ReadAt(b[:], page+headerOffset); err != nil {
		return Header{}, fmt.Errorf("header at %d: %w: %w", page, k.Damaged, err)
	}
	order := binary.NativeEndian // bbolt maps its structures into memory
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	if order.Uint32(b[:]) != headerMagic || order.Uint64(b[56:]) != sum.Sum64() {
		return Header{}, fmt.Errorf("header at %d: %w: %w", page, k.Damaged, errChecksum)
	}
	h := Header{
		PageSize:    int64(order.Uint32(b[8:])),
		root:        order.Uint64(b[16:]),
		freelist:    int64(order.Uint64(b[32:])),
		pages:       int64(order.Uint64(b[40:])),
		Transaction: order.Uint64(b[48:]),
	}
	if h.PageSize < 512 || h.pages < 2 || h.pages > math.MaxInt64/h.PageSize {
		return Header{}, fmt.Errorf("header at %d: %w: %d pages of %d bytes", page, k.Damaged, h.pages, h.PageSize)
	}
	return h, nil
}
