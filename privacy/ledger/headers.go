package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	bolterrors "go.etcd.io/bbolt/errors"
)

// A bbolt file begins with two headers, each in a page of its own, that are written in turn.
// bbolt falls back to the older one when the newer is damaged, and thereby forgets the last
// transaction. A ledger must not: it needs both. Writing one is a single write within a
// sector of the disk, so that a crash leaves none half written.
const (
	headerOffset = 16 // after the page's own header
	headerSize   = 64
	headerMagic  = 0xED0CDAED
	freelistFlag = 0x10
)

// header is the part of a bbolt header that is checked here.
type header struct {
	pageSize    int64
	freelist    int64 // its page
	pages       int64 // in use
	transaction uint64
}

// checkHeaders returns nil if both headers are sound and the file is as long as they say.
// It runs before bbolt touches any other page: beyond the end of the file that would kill
// the process.
func checkHeaders(path string, timeout time.Duration) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := checkFile(info); err != nil {
		return err
	}
	if info.Size() == 0 {
		return fmt.Errorf("%w: empty file", ErrDamaged)
	}
	// Read only, bbolt holds a lock and has read nothing but the headers.
	var file *os.File
	db, err := openBolt(path, timeout, true, &file)
	switch {
	case errors.Is(err, ErrLocked):
		return err
	case errors.Is(err, bolterrors.ErrChecksum):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotLedger, err)
	}
	defer db.Close()
	newest, err := newestHeader(file)
	if err != nil {
		return err
	}
	return newest.checkFreelist(file)
}

// newestHeader returns the header that was written last, if both are sound and the file is as
// long as they say.
func newestHeader(file *os.File) (header, error) {
	first, err := readHeader(file, 0)
	if err != nil {
		return header{}, err
	}
	second, err := readHeader(file, first.pageSize)
	if err != nil {
		return header{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return header{}, err
	}
	if first.pageSize != second.pageSize || max(first.transaction, second.transaction)-min(first.transaction, second.transaction) != 1 {
		return header{}, fmt.Errorf("%w: the headers contradict each other", ErrDamaged)
	}
	if need := max(first.pages, second.pages) * first.pageSize; info.Size() < need {
		return header{}, fmt.Errorf("%w: %w", ErrDamaged, fl.Invalid("size", info.Size(), "must be at least %d bytes", need))
	}
	if first.transaction > second.transaction {
		return first, nil
	}
	return second, nil
}

// checkFreelist returns nil if the list of free pages lies within its pages. bbolt reads it while it
// opens the file, when there is no way yet to close the file after a panic.
func (h header) checkFreelist(file *os.File) error {
	var b [headerOffset + 8]byte
	if _, err := file.ReadAt(b[:], h.freelist*h.pageSize); err != nil {
		return fmt.Errorf("free pages: %w: %w", ErrDamaged, err)
	}
	order := binary.NativeEndian
	id, flags, short := order.Uint64(b[:]), order.Uint16(b[8:]), order.Uint16(b[10:])
	size := h.pageSize * (1 + int64(order.Uint32(b[12:]))) // with the pages that follow
	count, room := uint64(short), uint64(size-headerOffset)/8
	if short == math.MaxUint16 { // the first element is the count
		count, room = order.Uint64(b[headerOffset:]), room-1
	}
	if id != uint64(h.freelist) || flags != freelistFlag || h.freelist*h.pageSize+size > h.pages*h.pageSize || count > room {
		return fmt.Errorf("free pages: %w", ErrDamaged)
	}
	return nil
}

func readHeader(file *os.File, page int64) (header, error) {
	var b [headerSize]byte
	if _, err := file.ReadAt(b[:], page+headerOffset); err != nil {
		return header{}, fmt.Errorf("header at %d: %w: %w", page, ErrDamaged, err)
	}
	order := binary.NativeEndian // bbolt maps its structures into memory
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	if order.Uint32(b[:]) != headerMagic || order.Uint64(b[56:]) != sum.Sum64() {
		return header{}, fmt.Errorf("header at %d: %w: %w", page, ErrDamaged, errChecksum)
	}
	return header{
		pageSize:    int64(order.Uint32(b[8:])),
		freelist:    int64(order.Uint64(b[32:])),
		pages:       int64(order.Uint64(b[40:])),
		transaction: order.Uint64(b[48:]),
	}, nil
}
