//go:build linux

package powercut

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// power is what a disk can do.
type power int

const (
	on power = iota
	frozen
	off
)

// disk is a tree of directories that loses power as a whole.
type disk struct {
	mu     sync.Mutex // held by each call
	power  power
	failed bool // once or more often
	orders bool // a sync of a file is one of all names, too
	rng    *rand.Rand
	top    *directory
}

// roomy is a node of a file system that is never full.
type roomy struct{ fs.Inode }

func (*roomy) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.Blocks, out.Bfree, out.Bavail, out.NameLen = 4096, 4096, 1<<30, 1<<29, 1<<29, 255
	return 0
}

var inodes atomic.Uint64 // numbers that were given

func stable(mode uint32) fs.StableAttr {
	return fs.StableAttr{Mode: mode, Ino: inodes.Add(1) + 1} // 1 is the root's
}

// begin locks the disk until end is called, and returns why it cannot do something.
func (d *disk) begin(writes bool) (end func(), err syscall.Errno) {
	d.mu.Lock()
	switch {
	case d.power == off:
		err = syscall.EIO
	case d.power == frozen && writes:
		err = syscall.EROFS
	}
	return d.mu.Unlock, err
}

// set sets the power.
func (d *disk) set(to power) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.power = to
}

// order makes a sync of a file one of all names on the disk.
func (d *disk) order() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orders = true
}

// restore brings the power back, and of the disk what it has kept.
func (d *disk) restore() {
	d.mu.Lock()
	defer d.mu.Unlock()
	keep := d.fate()
	d.top = d.top.survivor(keep).(*directory)
	d.power = on
}

// fate draws what becomes of changes that were not synced: all are lost, all are kept, or each has its own luck. At the first failure all are
// lost: what lacked a sync then and was kept is durable for ever.
func (d *disk) fate() func() bool {
	luck := d.rng.IntN(4)
	if !d.failed {
		d.failed, luck = true, 0
	}
	switch luck {
	case 0:
		return func() bool { return false }
	case 1:
		return func() bool { return true }
	}
	return func() bool { return d.rng.IntN(2) == 0 }
}

// node is a file or a directory.
type node interface {
	fs.InodeEmbedder
	// survivor is what is left of the node after the power has failed.
	survivor(keep func() bool) node
	fill(*fuse.Attr)
	attributes() fs.StableAttr
}

// change is a name that came, with the node that has it, and a name that went: either, or both in one step.
type change struct {
	came string
	node node
	went string
}

func (c change) apply(names map[string]node) {
	delete(names, c.went)
	if c.node != nil {
		names[c.came] = c.node
	}
}

// sectorBytes is what a disk writes whole.
const sectorBytes = 512

// write is bytes that were written or, where data is nil, a length that was set.
type write struct {
	at   int64
	data []byte
}

// content is what a file holds.
type content []byte

// apply makes a write. keep is asked for each sector, or for the length.
func (c content) apply(w write, keep func() bool) content {
	if w.data == nil {
		if keep() {
			c = c.resize(w.at)
		}
		return c
	}
	for len(w.data) > 0 {
		n := min(int(sectorBytes-w.at%sectorBytes), len(w.data))
		if keep() {
			if end := w.at + int64(n); end > int64(len(c)) {
				c = c.resize(end)
			}
			copy(c[w.at:], w.data[:n])
		}
		w.at, w.data = w.at+int64(n), w.data[n:]
	}
	return c
}

func (c content) resize(size int64) content {
	if size <= int64(len(c)) {
		return c[:size]
	}
	grown := slices.Grow(c, int(size)-len(c))[:size]
	clear(grown[len(c):])
	return grown
}

func always() bool { return true }
