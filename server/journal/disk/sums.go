package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hushgrad/hushgrad/fl"
)

// The engine reads its log and its list of tables until the first record that is not what was
// written, and takes it for one that a crash cut short. What follows would be lost without a
// word. So the journal notes in a file of its own how far each of the two was written to disk, with
// the checksum of that part, and compares before the engine reads them.
//
// A note about the log is not forced to disk: that would double the cost of a commit. It is exact
// after a crash of the process, and as old as what the system kept after a crash of the machine.

const (
	sumsName  = "sums"
	slotBytes = 512 // a sector, which a disk writes as a whole
	noteBytes = 64
	nameBytes = 40
)

// kind is a slot of the file of notes.
type kind int

const (
	logKind  kind = iota // the newest write-ahead log
	listKind             // the newest list of tables
	kinds
)

// kindOf returns which slot notes a file of the engine, if any.
func kindOf(name string) (kind, bool) {
	switch {
	case strings.HasSuffix(name, ".log"):
		return logKind, true
	case strings.HasPrefix(name, "MANIFEST-"):
		return listKind, true
	}
	return 0, false
}

// note says that the first bytes of a file are on disk, and their checksum.
type note struct {
	name   string
	length uint64
	sum    uint32 // CRC-32C
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (n note) encode() []byte {
	out := make([]byte, noteBytes)
	copy(out[:nameBytes], n.name)
	binary.LittleEndian.PutUint64(out[nameBytes:], n.length)
	binary.LittleEndian.PutUint32(out[nameBytes+8:], n.sum)
	binary.LittleEndian.PutUint32(out[nameBytes+12:], crc32.Checksum(out[:nameBytes+12], castagnoli))
	return out
}

// decodeNote returns a note, or one without a name for a slot that was never written.
func decodeNote(data []byte) (note, error) {
	if len(data) != noteBytes {
		return note{}, fmt.Errorf("%w: %s: %w", ErrDamaged, sumsName, fl.Invalid("bytes", len(data), "must be %d", noteBytes))
	}
	if bytes.Equal(data, make([]byte, noteBytes)) {
		return note{}, nil
	}
	n := note{
		name:   string(bytes.TrimRight(data[:nameBytes], "\x00")),
		length: binary.LittleEndian.Uint64(data[nameBytes:]),
		sum:    binary.LittleEndian.Uint32(data[nameBytes+8:]),
	}
	if !bytes.Equal(n.encode(), data) {
		return note{}, fmt.Errorf("%w: %s: the checksum does not match", ErrDamaged, sumsName)
	}
	return n, nil
}

// check compares the beginning of the noted file with the note. A file that is gone is no longer
// needed by the engine.
func (n note) check(files vfs.FS, dir string) error {
	found, err := noteOf(files, files.PathJoin(dir, n.name), n.name, n.length)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case found.length != n.length:
		return fmt.Errorf("%w: %s: %w", ErrDamaged, n.name, fl.Invalid("bytes", found.length, "must be at least %d", n.length))
	case found.sum != n.sum:
		return fmt.Errorf("%w: %s: the first %d bytes are not what was written", ErrDamaged, n.name, n.length)
	}
	return nil
}

// noteOf reads at most length bytes of a file.
func noteOf(files vfs.FS, path, name string, length uint64) (note, error) {
	f, err := files.Open(path)
	if err != nil {
		return note{}, err
	}
	sum := crc32.New(castagnoli)
	read, err := io.Copy(sum, io.LimitReader(f, int64(min(length, math.MaxInt64))))
	return note{name: name, length: uint64(read), sum: sum.Sum32()}, errors.Join(err, f.Close())
}

// sums is the open file of notes.
type sums struct {
	mu   sync.Mutex
	file vfs.File
}

// makeSums makes a file without notes.
func makeSums(files vfs.FS, dir string) error {
	f, err := files.Create(files.PathJoin(dir, sumsName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, int(kinds)*slotBytes))
	return errors.Join(err, f.Sync(), f.Close())
}

// openSums checks all notes about files in the directory engine.
func openSums(files vfs.FS, dir, engine string) (*sums, error) {
	path := files.PathJoin(dir, sumsName)
	if _, err := files.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the file %s is missing", ErrDamaged, sumsName)
	}
	f, err := files.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	for k := range kinds {
		data := make([]byte, noteBytes)
		read, err := f.ReadAt(data, int64(k)*slotBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, errors.Join(err, f.Close())
		}
		n, err := decodeNote(data[:read])
		if err == nil && n.name != "" {
			err = n.check(files, engine)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &sums{file: f}, nil
}

// write replaces the note of a kind. That about the list is forced to disk: after it the engine
// removes logs.
func (s *sums) write(k kind, n note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(n.encode(), int64(k)*slotBytes); err != nil {
		return err
	}
	if k == listKind {
		return s.file.SyncData()
	}
	return nil
}

// noteAll notes the newest log and list of tables of an engine that nobody writes to.
func noteAll(files vfs.FS, dir, engine string) error {
	names, err := files.List(engine)
	if err != nil {
		return err
	}
	newest := map[kind]string{}
	for _, name := range names {
		// Numbers have six digits or more.
		if k, ok := kindOf(name); ok && (len(name) > len(newest[k]) || len(name) == len(newest[k]) && name > newest[k]) {
			newest[k] = name
		}
	}
	f, err := files.OpenReadWrite(files.PathJoin(dir, sumsName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	s := &sums{file: f}
	for k, name := range newest {
		n, e := noteOf(files, files.PathJoin(engine, name), name, math.MaxInt64)
		err = errors.Join(err, e)
		if e == nil {
			err = errors.Join(err, s.write(k, n))
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}
