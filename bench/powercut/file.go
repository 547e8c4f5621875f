//go:build linux

package powercut

import (
	"context"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// file is a regular file of a disk.
type file struct {
	roomy
	disk  *disk
	is    fs.StableAttr
	mode  uint32
	owner fuse.Owner

	now, synced content
	pending     []write // that lead from synced to now
}

var (
	_ fs.NodeOpener    = (*file)(nil)
	_ fs.NodeReader    = (*file)(nil)
	_ fs.NodeWriter    = (*file)(nil)
	_ fs.NodeFsyncer   = (*file)(nil)
	_ fs.NodeGetattrer = (*file)(nil)
	_ fs.NodeSetattrer = (*file)(nil)
	_ fs.NodeStatfser  = (*file)(nil)
	_ node             = (*file)(nil)
)

func (f *file) attributes() fs.StableAttr { return f.is }

func (f *file) fill(a *fuse.Attr) {
	a.Mode, a.Size, a.Nlink, a.Owner, a.Blksize = f.mode, uint64(len(f.now)), 1, f.owner, 4096
	a.Blocks = (a.Size + sectorBytes - 1) / sectorBytes
}

func (f *file) survivor(keep func() bool) node {
	left := &file{disk: f.disk, is: stable(fuse.S_IFREG), mode: f.mode, owner: f.owner, synced: slices.Clone(f.synced)}
	for _, w := range f.pending {
		left.synced = left.synced.apply(w, keep)
	}
	left.now = slices.Clone(left.synced)
	return left
}

// do makes a write that is not synced.
func (f *file) do(w write) {
	f.pending = append(f.pending, w)
	f.now = f.now.apply(w, always)
}

func (f *file) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	end, err := f.disk.begin(flags&syscall.O_ACCMODE != syscall.O_RDONLY)
	defer end()
	if err != 0 {
		return nil, 0, err
	}
	if flags&syscall.O_TRUNC != 0 {
		f.do(write{})
	}
	return nil, 0, 0
}

func (f *file) Read(_ context.Context, _ fs.FileHandle, to []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	end, err := f.disk.begin(false)
	defer end()
	if err != 0 {
		return nil, err
	}
	n := 0
	if at < int64(len(f.now)) {
		n = copy(to, f.now[at:])
	}
	return fuse.ReadResultData(to[:n]), 0
}

func (f *file) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	end, err := f.disk.begin(true)
	defer end()
	if err != 0 {
		return 0, err
	}
	f.do(write{at: at, data: append([]byte{}, data...)})
	return uint32(len(data)), 0
}

// Fsync makes what was written so far durable, and not the name of the file.
func (f *file) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	end, err := f.disk.begin(true)
	defer end()
	if err != 0 {
		return err
	}
	for _, w := range f.pending {
		f.synced = f.synced.apply(w, always)
	}
	f.pending = nil
	if f.disk.orders {
		f.disk.top.settle()
	}
	return 0
}

func (f *file) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	end, err := f.disk.begin(false)
	defer end()
	f.fill(&out.Attr)
	return err
}

func (f *file) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	end, err := f.disk.begin(true)
	defer end()
	if err != 0 {
		return err
	}
	if size, set := in.GetSize(); set {
		f.do(write{at: int64(size)})
	}
	if mode, set := in.GetMode(); set { // durable at once: nothing tests whether it is
		f.mode = mode
	}
	f.fill(&out.Attr)
	return 0
}
