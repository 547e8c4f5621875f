//go:build linux

package powercut

import (
	"context"
	"maps"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// directory is a directory of a disk.
type directory struct {
	roomy
	disk  *disk
	is    fs.StableAttr
	mode  uint32
	owner fuse.Owner

	now, synced map[string]node
	pending     []change // that lead from synced to now
}

var (
	_ fs.NodeLookuper  = (*directory)(nil)
	_ fs.NodeReaddirer = (*directory)(nil)
	_ fs.NodeCreater   = (*directory)(nil)
	_ fs.NodeMkdirer   = (*directory)(nil)
	_ fs.NodeUnlinker  = (*directory)(nil)
	_ fs.NodeRmdirer   = (*directory)(nil)
	_ fs.NodeRenamer   = (*directory)(nil)
	_ fs.NodeFsyncer   = (*directory)(nil)
	_ fs.NodeGetattrer = (*directory)(nil)
	_ fs.NodeSetattrer = (*directory)(nil)
	_ fs.NodeStatfser  = (*directory)(nil)
	_ node             = (*directory)(nil)
)

func (d *disk) directory(mode uint32, owner fuse.Owner) *directory {
	return &directory{disk: d, is: stable(fuse.S_IFDIR), mode: mode, owner: owner, now: map[string]node{}, synced: map[string]node{}}
}

func (d *directory) attributes() fs.StableAttr { return d.is }

func (d *directory) fill(a *fuse.Attr) {
	a.Mode, a.Nlink, a.Owner = d.mode, 2, d.owner
}

func (d *directory) survivor(keep func() bool) node {
	names := maps.Clone(d.synced)
	for _, c := range d.pending {
		if !keep() {
			break
		}
		c.apply(names)
	}
	left := d.disk.directory(d.mode, d.owner)
	for name, n := range names {
		left.synced[name] = n.survivor(keep)
	}
	left.now = maps.Clone(left.synced)
	return left
}

// do makes a change that is not synced.
func (d *directory) do(c change) {
	d.pending = append(d.pending, c)
	c.apply(d.now)
}

// inode returns what the kernel knows a node by.
func (d *directory) inode(ctx context.Context, n node, out *fuse.EntryOut) *fs.Inode {
	n.fill(&out.Attr)
	return d.NewInode(ctx, n, n.attributes())
}

func (d *directory) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	end, err := d.disk.begin(false)
	defer end()
	if err != 0 {
		return nil, err
	}
	n, found := d.now[name]
	if !found {
		return nil, syscall.ENOENT
	}
	return d.inode(ctx, n, out), 0
}

func (d *directory) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	end, err := d.disk.begin(false)
	defer end()
	if err != 0 {
		return nil, err
	}
	var list []fuse.DirEntry
	for name, n := range d.now {
		list = append(list, fuse.DirEntry{Name: name, Mode: n.attributes().Mode, Ino: n.attributes().Ino})
	}
	return fs.NewListDirStream(list), 0
}

func (d *directory) Create(ctx context.Context, name string, flags uint32, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	end, err := d.disk.begin(true)
	defer end()
	if err != 0 {
		return nil, nil, 0, err
	}
	n, found := d.now[name]
	switch {
	case found && flags&syscall.O_EXCL != 0:
		return nil, nil, 0, syscall.EEXIST
	case !found:
		n = &file{disk: d.disk, is: stable(fuse.S_IFREG), mode: fuse.S_IFREG | mode&0o7777, owner: owner(ctx)}
		d.do(change{came: name, node: n})
	}
	return d.inode(ctx, n, out), nil, 0, 0
}

func (d *directory) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	end, err := d.disk.begin(true)
	defer end()
	if err != 0 {
		return nil, err
	}
	if _, found := d.now[name]; found {
		return nil, syscall.EEXIST
	}
	n := d.disk.directory(fuse.S_IFDIR|mode&0o7777, owner(ctx))
	d.do(change{came: name, node: n})
	return d.inode(ctx, n, out), 0
}

// owner is who makes something.
func owner(ctx context.Context) fuse.Owner {
	if caller, ok := fuse.FromContext(ctx); ok {
		return caller.Owner
	}
	return fuse.Owner{}
}

func (d *directory) Unlink(_ context.Context, name string) syscall.Errno { return d.remove(name) }

func (d *directory) Rmdir(_ context.Context, name string) syscall.Errno { return d.remove(name) }

func (d *directory) remove(name string) syscall.Errno {
	end, err := d.disk.begin(true)
	defer end()
	if err != 0 {
		return err
	}
	n, found := d.now[name]
	if !found {
		return syscall.ENOENT
	}
	if inside, is := n.(*directory); is && len(inside.now) > 0 {
		return syscall.ENOTEMPTY
	}
	d.do(change{went: name})
	return 0
}

// Rename gives a file another name in the same directory in one step. Between directories the name may come and not go, or go
// and not come.
func (d *directory) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	target, same := to.(*directory)
	if !same || target.disk != d.disk || flags != 0 {
		return syscall.EXDEV
	}
	end, err := d.disk.begin(true)
	defer end()
	if err != 0 {
		return err
	}
	n, found := d.now[name]
	if !found {
		return syscall.ENOENT
	}
	if target == d {
		d.do(change{came: newName, node: n, went: name})
	} else {
		target.do(change{came: newName, node: n})
		d.do(change{went: name})
	}
	return 0
}

// Fsync makes the names that there are durable.
func (d *directory) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	end, err := d.disk.begin(true)
	defer end()
	if err != 0 {
		return err
	}
	d.keep()
	return 0
}

func (d *directory) keep() { d.synced, d.pending = maps.Clone(d.now), nil }

// settle makes the names in the directory and below it durable.
func (d *directory) settle() {
	d.keep()
	for _, n := range d.now {
		if below, is := n.(*directory); is {
			below.settle()
		}
	}
}

func (d *directory) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	end, err := d.disk.begin(false)
	defer end()
	d.fill(&out.Attr)
	return err
}

func (d *directory) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	end, err := d.disk.begin(true)
	defer end()
	if mode, set := in.GetMode(); set && err == 0 {
		d.mode = fuse.S_IFDIR | mode&0o7777
	}
	d.fill(&out.Attr)
	return err
}
