package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/hushgrad/hushgrad/fl"
)

// What is in a page of bbolt. Integers are in the order of the machine.
const (
	pageHead     = 16 // page uint64, flags uint16, elements uint16, pages that follow uint32
	elementBytes = 16 // of a branch: offset, key size uint32, page uint64; of a leaf: flags, offset, key size, value size uint32
	bucketBytes  = 16 // of a bucket in a leaf: page uint64, counter uint64; for page 0 the bucket's only page follows

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 1 // of an element of a leaf
)

// tree reads all pages that a file's root leads to. bbolt's own check reads them in mapped memory, where
// a damaged page ends the process.
type tree struct {
	file *os.File
	head Header
	used []bool // by page
}

// checkPages returns nil if every page leads where it should: each page is used once or free, keys are in
// order, and every search for a key ends where the key is.
func (k Kind) checkPages(h Header, file *os.File) error {
	t := tree{file, h, make([]bool, h.pages)}
	t.used[0], t.used[1] = true, true
	err := t.walk(h.root, nil, nil)
	if err == nil && h.freelist != noFreelist {
		err = t.checkFree()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", k.Damaged, err)
	}
	return nil
}

// page reads a page with those that follow it, and takes it into use.
func (t *tree) page(id uint64) ([]byte, error) {
	if id < 2 || id >= uint64(t.head.pages) {
		return nil, fl.Invalid("page", id, "must be in [2, %d)", t.head.pages)
	}
	var head [pageHead]byte
	at := int64(id) * t.head.PageSize
	if _, err := t.file.ReadAt(head[:], at); err != nil {
		return nil, err
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if own := binary.NativeEndian.Uint64(head[:]); own != id || more >= uint64(t.head.pages)-id {
		return nil, fmt.Errorf("page %d says that it is page %d with %d more", id, own, more)
	}
	for i := id; i <= id+more; i++ {
		if t.used[i] {
			return nil, fmt.Errorf("page %d is in use twice", i)
		}
		t.used[i] = true
	}
	data := make([]byte, (1+int64(more))*t.head.PageSize)
	_, err := t.file.ReadAt(data, at)
	return data, err
}

// walk checks what page id leads to. All keys must be in [from, to); nil for to is no bound.
func (t *tree) walk(id uint64, from, to []byte) error {
	data, err := t.page(id)
	if err != nil {
		return err
	}
	if err := t.elements(data, from, to); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements checks the elements of a page, and what they lead to.
func (t *tree) elements(data []byte, from, to []byte) error {
	order := binary.NativeEndian
	flags, count := order.Uint16(data[8:]), int(order.Uint16(data[10:]))
	if flags != branchFlag && flags != leafFlag || flags == branchFlag && count == 0 || pageHead+count*elementBytes > len(data) {
		return fmt.Errorf("it has the flags %x and %d elements", flags, count)
	}
	keys := make([][]byte, count)
	for i := range keys {
		at := pageHead + i*elementBytes
		e := data[at:]
		offset, size, value := order.Uint32(e), order.Uint32(e[4:]), uint32(0)
		if flags == leafFlag {
			offset, size, value = order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
		}
		begin := uint64(at) + uint64(offset)
		if end := begin + uint64(size) + uint64(value); int(offset) < (count-i)*elementBytes || end > uint64(len(data)) {
			return fmt.Errorf("element %d lies outside", i)
		}
		keys[i] = data[begin : begin+uint64(size)]
		switch {
		case i == 0 && bytes.Compare(keys[i], from) < 0, i > 0 && bytes.Compare(keys[i], keys[i-1]) <= 0, to != nil && bytes.Compare(keys[i], to) >= 0:
			return fmt.Errorf("the key of element %d is not in order", i)
		case flags == leafFlag && order.Uint32(e)&bucketFlag != 0:
			if err := t.bucket(data[begin+uint64(size):][:value]); err != nil {
				return err
			}
		}
	}
	if flags == leafFlag {
		return nil
	}
	for i, key := range keys {
		next := to
		if i+1 < count {
			next = keys[i+1]
		}
		if err := t.walk(order.Uint64(data[pageHead+i*elementBytes+8:]), key, next); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket inside a leaf.
func (t *tree) bucket(value []byte) error {
	if len(value) < bucketBytes {
		return fmt.Errorf("a bucket has %d bytes", len(value))
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return t.walk(root, nil, nil)
	}
	if only := value[bucketBytes:]; len(only) >= pageHead {
		return t.elements(only, nil, nil)
	}
	return fmt.Errorf("a bucket has %d bytes", len(value))
}

// checkFree returns nil if the list of free pages has exactly those that are not in use.
func (t *tree) checkFree() error {
	data, err := t.page(uint64(t.head.freelist))
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	flags, count, list := order.Uint16(data[8:]), uint64(order.Uint16(data[10:])), data[pageHead:]
	if count == math.MaxUint16 { // the first element is the count
		count, list = order.Uint64(list), list[8:]
	}
	if flags != freelistFlag || count > uint64(len(list))/8 {
		return fmt.Errorf("the list of free pages has the flags %x and %d elements", flags, count)
	}
	for i := range count {
		id := order.Uint64(list[8*i:])
		if id < 2 || id >= uint64(t.head.pages) || t.used[id] {
			return fmt.Errorf("page %d is free and in use", id)
		}
		t.used[id] = true
	}
	for id, used := range t.used {
		if !used {
			return fmt.Errorf("page %d is neither free nor in use", id)
		}
	}
	return nil
}
