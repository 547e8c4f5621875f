//go:build linux

package powercut

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// control is the name of the file that says what happens to a disk.
const control = "power"

// Mount mounts the file system at an empty directory until unmount is called. All luck is drawn from seed.
func Mount(dir string, seed uint64) (unmount func() error, err error) {
	server, err := fs.Mount(dir, &root{seed: seed, disks: map[string]*disk{}}, &fs.Options{
		MountOptions: fuse.MountOptions{FsName: "powercut", Name: "powercut", DirectMount: true},
	})
	if err != nil {
		return nil, fmt.Errorf("powercut: mount: %w", err)
	}
	if err := keepToOurselves(); err != nil {
		return nil, errors.Join(fmt.Errorf("powercut: mount: %w", err), server.Unmount())
	}
	return server.Unmount, nil
}

// keepToOurselves keeps processes that this one starts from having its connections to the kernel, which go-fuse leaves to them. A process that waits
// for the file system, and has its connection, could not even be killed when this process is gone.
func keepToOurselves() error {
	open, err := os.ReadDir("/proc/self/fd")
	for _, f := range open {
		if to, gone := os.Readlink("/proc/self/fd/" + f.Name()); gone == nil && to == "/dev/fuse" {
			fd, unlike := strconv.Atoi(f.Name())
			syscall.CloseOnExec(fd)
			err = errors.Join(err, unlike)
		}
	}
	return err
}

// root has the disks.
type root struct {
	fs.Inode
	seed uint64

	mu    sync.Mutex
	disks map[string]*disk
}

var (
	_ fs.NodeLookuper  = (*root)(nil)
	_ fs.NodeReaddirer = (*root)(nil)
	_ fs.NodeMkdirer   = (*root)(nil)
	_ fs.NodeFsyncer   = (*root)(nil)
)

// Lookup does not look at the power: the name of a disk is not on the disk.
func (r *root) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == control {
		out.Mode = fuse.S_IFREG | 0o600
		return r.NewInode(ctx, &lever{root: r}, stable(fuse.S_IFREG)), 0
	}
	d, found := r.disks[name]
	if !found {
		return nil, syscall.ENOENT
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.top.fill(&out.Attr)
	return r.NewInode(ctx, d.top, d.top.is), 0
}

func (r *root) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []fuse.DirEntry{{Name: control, Mode: fuse.S_IFREG}}
	for _, name := range slices.Sorted(maps.Keys(r.disks)) {
		list = append(list, fuse.DirEntry{Name: name, Mode: fuse.S_IFDIR})
	}
	return fs.NewListDirStream(list), 0
}

// Fsync has nothing to do. Without it the kernel would ask no directory any more.
func (*root) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

// Mkdir makes a disk.
func (r *root) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, found := r.disks[name]; found || name == control {
		return nil, syscall.EEXIST
	}
	d := &disk{rng: rand.New(rand.NewPCG(r.seed, uint64(len(r.disks))))}
	d.top = d.directory(fuse.S_IFDIR|mode&0o7777, owner(ctx))
	r.disks[name] = d
	d.top.fill(&out.Attr)
	return r.NewInode(ctx, d.top, d.top.is), 0
}

// lever is the file that says what happens.
type lever struct {
	fs.Inode
	root *root
}

var (
	_ fs.NodeOpener    = (*lever)(nil)
	_ fs.NodeWriter    = (*lever)(nil)
	_ fs.NodeSetattrer = (*lever)(nil)
)

func (*lever) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

// Setattr lets the file be truncated, which changes nothing.
func (*lever) Setattr(_ context.Context, _ fs.FileHandle, _ *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	out.Mode = fuse.S_IFREG | 0o600
	return 0
}

func (l *lever) Write(_ context.Context, _ fs.FileHandle, data []byte, _ int64) (uint32, syscall.Errno) {
	what, name, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	l.root.mu.Lock()
	defer l.root.mu.Unlock()
	d, found := l.root.disks[name]
	if !found {
		return 0, syscall.ENOENT
	}
	switch what {
	case "cut":
		d.set(off)
	case "restore":
		d.restore()
	case "freeze":
		d.set(frozen)
	case "thaw":
		d.set(on)
	case "order":
		d.order()
	default:
		return 0, syscall.EINVAL
	}
	return uint32(len(data)), 0
}
