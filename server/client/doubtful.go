package client

import (
	"crypto/sha256"
	"sync"
)

// doubtful keeps what makes a submission count once, until the server has acknowledged it: the key of
// a batch, or the sealed bytes of a report. A submission whose answer was lost may have been counted.
// When the same bytes are submitted again they take the same key, or the same sealed bytes.
//
// Several clients of a simulation may have equal reports. Equal reports are interchangeable: each
// submission in progress takes a key of its own, and each acknowledgement ends one key.
type doubtful struct {
	mu   sync.Mutex
	left map[[sha256.Size]byte][][]byte
}

// mark is the key of a batch, or a sealed report, with the digest of what it belongs to.
type mark struct {
	of    [sha256.Size]byte
	value []byte
}

// take returns the mark of a content that was left in doubt. Its value is nil if there is none.
func (d *doubtful) take(content []byte) mark {
	m := mark{of: sha256.Sum256(content)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if left := d.left[m.of]; len(left) > 1 {
		m.value, d.left[m.of] = left[0], left[1:]
	} else if len(left) == 1 {
		m.value = left[0]
		delete(d.left, m.of)
	}
	return m
}

// leave keeps marks whose submission was not acknowledged.
func (d *doubtful) leave(marks []mark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == nil {
		d.left = map[[sha256.Size]byte][][]byte{}
	}
	for _, m := range marks {
		if m.value != nil {
			d.left[m.of] = append(d.left[m.of], m.value)
		}
	}
}
