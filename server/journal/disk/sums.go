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

// The engine reads a log, or its list of tables, until the first record that is not what was
// written, and takes that record for one that a crash cut short. It takes a log that is gone for one
// that it has removed, and an engine without markers for a new one. What was in them would be lost
// without a word. So the journal keeps a file of notes. A note has the name of a file, how far the
// file was forced to disk, and the checksum of that part. Open compares all notes before the engine
// reads anything.
//
// A note is made after the name of its file is forced to disk. It is dropped, and that is forced to
// disk, before the engine removes or renames the file. So a noted log that is missing was taken away
// by somebody else, whenever the process was killed or the machine crashed.
//
// The length in a note about a log is not forced to disk: that would double the cost of a commit. It
// is exact after a crash of the process, and as old as what the system kept after a crash of the
// machine.

const (
	sumsName   = "sums"
	slotBytes  = 512 // a sector, which a disk writes as a whole
	nameBytes  = 64
	noteBytes  = nameBytes + 16
	firstSlots = 64 // of a new file; it doubles when they are used up
)

// isList says whether a file of the engine is a list of tables.
func isList(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }

// isTable says whether a file of the engine is a table.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// isMarker says whether the name of a file of the engine is a setting: the current list of tables, or
// the format.
func isMarker(name string) bool { return strings.HasPrefix(name, "marker.") }

// isLog says whether a file of the engine is a write-ahead log.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// isNoted says whether a file of the engine has a note. The others hold no data: locks and copies of
// the options.
func isNoted(name string) bool { return isLog(name) || isList(name) || isTable(name) || isMarker(name) }

// isRequired says whether a noted file must be there. Which tables and which list it needs, the
// engine knows and checks itself.
func isRequired(name string) bool { return isLog(name) || isMarker(name) }

// note says that the first bytes of a file are on disk, and their checksum. The note of a free slot
// has no name. The first slot's note has the name of the file of notes, and the number of slots as length.
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

func decodeNote(data []byte) (note, error) {
	if len(data) != noteBytes {
		return note{}, fmt.Errorf("%w: %s: %w", ErrDamaged, sumsName, fl.Invalid("bytes", len(data), "must be %d", noteBytes))
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

// check compares the beginning of the noted file with the note, and returns whether the file is there.
func (n note) check(files vfs.FS, dir string) (found bool, err error) {
	got, err := noteOf(files, dir, n.name, n.length)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isRequired(n.name):
		return false, fmt.Errorf("%w: %s is missing: put it back, or restore a backup of the whole journal", ErrDamaged, n.name)
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case got.length != n.length:
		return true, fmt.Errorf("%w: %s: %w", ErrDamaged, n.name, fl.Invalid("bytes", got.length, "must be at least %d", n.length))
	case got.sum != n.sum:
		return true, fmt.Errorf("%w: %s: the first %d bytes are not what was written", ErrDamaged, n.name, n.length)
	}
	return true, nil
}

// noteOf reads at most length bytes of a file.
func noteOf(files vfs.FS, dir, name string, length uint64) (note, error) {
	f, err := files.Open(files.PathJoin(dir, name))
	if err != nil {
		return note{}, err
	}
	sum := crc32.New(castagnoli)
	read, err := io.Copy(sum, io.LimitReader(f, int64(min(length, math.MaxInt64))))
	return note{name: name, length: uint64(read), sum: sum.Sum32()}, errors.Join(err, f.Close())
}

// sums is the open file of notes.
type sums struct {
	file vfs.File

	mu      sync.Mutex
	entries map[string]*entry
	slots   int // in the file
	free    []int
}

// entry is what is known about a file of the engine.
type entry struct {
	note note
	slot int
	made bool // the file is there
	kept bool // the note is in the file of notes
}

// makeSums makes a file of notes.
func makeSums(files vfs.FS, dir string, notes []note) (err error) {
	f, err := files.Create(files.PathJoin(dir, sumsName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := &sums{file: f, entries: map[string]*entry{}}
	for _, n := range notes {
		if err := s.begin(n.name); err != nil {
			return err
		}
		e := s.entries[n.name]
		e.note = n
		if err := s.put(e.slot, n); err != nil {
			return err
		}
	}
	if err := s.grow(max(s.slots, firstSlots)); err != nil { // where there are no notes
		return err
	}
	return f.Sync()
}

// openSums compares all notes with the files in the directory engine.
func openSums(files vfs.FS, dir, engine string) (*sums, error) {
	path := files.PathJoin(dir, sumsName)
	if _, err := files.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the file %s is missing", ErrDamaged, sumsName)
	}
	f, err := files.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	s := &sums{file: f, entries: map[string]*entry{}}
	if err := s.load(files, engine); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

func (s *sums) load(files vfs.FS, engine string) error {
	head, err := s.get(0)
	if err != nil {
		return err
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if inFile := uint64(info.Size()) / slotBytes; head.name != sumsName || head.length < 1 || head.length > inFile {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, sumsName, fl.Invalid("slots", inFile, "must be at least %d", head.length))
	}
	s.slots = int(head.length)
	var gone []string
	for slot := 1; slot < s.slots; slot++ {
		n, err := s.get(slot)
		if err != nil {
			return err
		}
		if n.name == "" {
			s.free = append(s.free, slot)
			continue
		}
		found, err := n.check(files, engine)
		if err != nil {
			return err
		}
		if !found {
			gone = append(gone, n.name)
		}
		s.entries[n.name] = &entry{note: n, slot: slot, made: true, kept: true}
	}
	for _, name := range gone {
		if err := s.drop(name); err != nil {
			return err
		}
	}
	return nil
}

// get reads a slot.
func (s *sums) get(slot int) (note, error) {
	data := make([]byte, noteBytes)
	read, err := s.file.ReadAt(data, int64(slot)*slotBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return note{}, err
	}
	return decodeNote(data[:read])
}

// put writes a slot.
func (s *sums) put(slot int, n note) error {
	_, err := s.file.WriteAt(n.encode(), int64(slot)*slotBytes)
	return err
}

// grow makes room for slots. The caller holds s.mu, or nobody else knows s.
func (s *sums) grow(slots int) error {
	if slots == s.slots {
		return nil
	}
	for slot := max(1, s.slots); slot < slots; slot++ {
		if _, err := s.file.WriteAt(append(note{}.encode(), make([]byte, slotBytes-noteBytes)...), int64(slot)*slotBytes); err != nil {
			return err
		}
	}
	if err := s.file.Sync(); err != nil { // before they are counted
		return err
	}
	if err := s.put(0, note{name: sumsName, length: uint64(slots)}); err != nil {
		return err
	}
	for slot := max(1, s.slots); slot < slots; slot++ {
		s.free = append(s.free, slot)
	}
	s.slots = slots
	return s.file.Sync()
}

// begin takes a slot for a file that is about to be made.
func (s *sums) begin(name string) error {
	if len(name) > nameBytes {
		return fl.Invalid("name", name, "must have at most %d bytes", nameBytes)
	}
	if err := s.drop(name); err != nil { // what somebody has removed
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		if err := s.grow(max(2*s.slots, firstSlots)); err != nil {
			return err
		}
	}
	last := len(s.free) - 1
	s.entries[name] = &entry{note: note{name: name}, slot: s.free[last]}
	s.free = s.free[:last]
	return nil
}

// made says that a file is there, after begin.
func (s *sums) made(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[name]; e != nil {
		e.made = true
	}
}

// unkept returns the files that are there and have no note yet. Their names may not be on disk.
func (s *sums) unkept() (out []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.made && !e.kept {
			out = append(out, e)
		}
	}
	return out
}

// keep makes the notes of files whose names are on disk now, durably.
func (s *sums) keep(files []*entry) error {
	if len(files) == 0 {
		return nil
	}
	s.mu.Lock()
	for _, e := range files {
		if s.entries[e.note.name] != e || e.kept {
			continue
		}
		if err := s.put(e.slot, e.note); err != nil {
			s.mu.Unlock()
			return err
		}
		e.kept = true
	}
	s.mu.Unlock()
	return s.file.SyncData()
}

// synced says how far a file was forced to disk. The note about a list is forced to disk, too: after
// it the engine removes logs.
func (s *sums) synced(n note) error {
	s.mu.Lock()
	e := s.entries[n.name]
	if e == nil {
		s.mu.Unlock()
		return nil
	}
	e.note = n
	kept := e.kept
	var err error
	if kept {
		err = s.put(e.slot, n)
	}
	s.mu.Unlock()
	if err == nil && kept && isList(n.name) {
		err = s.file.SyncData()
	}
	return err
}

// drop forgets a file that is about to go, durably.
func (s *sums) drop(name string) error {
	s.mu.Lock()
	e := s.entries[name]
	if e == nil {
		s.mu.Unlock()
		return nil
	}
	if e.kept {
		if err := s.put(e.slot, note{}); err != nil {
			s.mu.Unlock()
			return err
		}
	}
	delete(s.entries, name)
	s.free = append(s.free, e.slot)
	s.mu.Unlock()
	if e.kept {
		return s.file.SyncData()
	}
	return nil
}

// noteAll returns the notes of all files of an engine that nobody writes to. What of a table is
// known, it need not read again.
func noteAll(files vfs.FS, engine string, known *sums) (out []note, err error) {
	names, err := files.List(engine)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !isNoted(name) {
			continue
		}
		n, ok := known.table(name)
		if !ok {
			if n, err = noteOf(files, engine, name, math.MaxInt64); err != nil {
				return nil, err
			}
		}
		out = append(out, n)
	}
	return out, nil
}

// table returns the note of a table that is there.
func (s *sums) table(name string) (note, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	if e == nil || !isTable(name) || e.note.length == 0 {
		return note{}, false
	}
	return e.note, true
}
