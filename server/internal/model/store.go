package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"weak"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

var (
	// ErrNone is wrapped by errors about a model when there is none.
	ErrNone = errors.New("not found")
	// ErrRetired is wrapped by the error of a reader who is too slow.
	ErrRetired = errors.New("newer models were published")
)

// Config is where a store keeps its model. All fields are required.
type Config struct {
	Journal journal.Journal
	// Key has the current model's version and place. The keys of parts begin with it and a slash.
	Key string
	// MaxBytes bounds a model.
	MaxBytes int64
}

// Store keeps the current model, and the one before while somebody reads it. It is safe for
// concurrent use.
//
//	<key>                  version and place of the current model
//	<key>/<place>/<part>   a GetModelResponse; part 0 has the header and no data
//
// Numbers are big-endian. A place is the number of an upload.
type Store struct {
	config    Config
	finishing sync.Mutex // one upload at a time becomes the current model
	reading   sync.Mutex // one part at a time is read from the journal

	mu              sync.Mutex
	current, former *kept  // nil for none
	last            uint64 // place of the newest upload
}

// kept is a model in the journal.
type kept struct {
	header *service.ModelHeader
	place  uint64
	sent   []weak.Pointer[[]byte] // the parts, where one is on its way to a reader
	// The store's mu guards what follows.
	readers int
	retired bool // its parts are gone, or will be
}

// Open returns the store with the model that the journal has, and removes what an upload left that did
// not end. Cost: reading all parts once.
func Open(c Config) (*Store, error) {
	s := &Store{config: c}
	version, place, err := s.pointer()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if version > 0 {
		s.current, s.last = &kept{place: place}, place
	}
	err = s.recover(s.current)
	if h, none := s.Header(); err == nil && none == nil && h.GetVersion() != version {
		err = fl.Invalid("version", h.GetVersion(), "must be %d, which is the current one", version)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return s, nil
}

// pointer returns the version and the place of the model in the journal, 0 for none.
func (s *Store) pointer() (version, place uint64, err error) {
	data, err := s.config.Journal.Get([]byte(s.config.Key))
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return 0, 0, nil
	case err != nil:
		return 0, 0, err
	case len(data) != 16:
		return 0, 0, fl.Invalid("version", fmt.Sprintf("%d bytes", len(data)), "must have 16")
	}
	version = binary.BigEndian.Uint64(data)
	if version == 0 {
		return 0, 0, fl.Invalid("version", version, "must be > 0")
	}
	return version, binary.BigEndian.Uint64(data[8:]), nil
}

// recover finds the parts of m, nil for none, and removes all others.
func (s *Store) recover(m *kept) error {
	all := []byte(s.config.Key + "/")
	var others journal.Batch
	var removed uint64
	for pair, err := range s.config.Journal.Scan(all, journal.After(all)) {
		if err != nil {
			return err
		}
		if len(pair.Key) != len(all)+12 {
			return fl.Invalid("key", fmt.Sprintf("%q", pair.Key), "must end with 12 bytes")
		}
		place, part := binary.BigEndian.Uint64(pair.Key[len(all):]), binary.BigEndian.Uint32(pair.Key[len(all)+8:])
		switch {
		case m == nil || place != m.place:
			if place != removed {
				s.remove(&others, place)
				removed = place
			}
			continue
		case int(part) != len(m.sent):
			return fl.Invalid("part", part, "must be %d of version at place %d", len(m.sent), place)
		case part == 0:
			var first service.GetModelResponse
			if err := proto.Unmarshal(pair.Value, &first); err != nil {
				return err
			}
			m.header = first.GetHeader()
		}
		m.sent = append(m.sent, weak.Pointer[[]byte]{})
	}
	if m != nil && len(m.sent) == 0 {
		return fl.Invalid("parts", 0, "must be there at place %d", m.place)
	}
	if len(others.Changes()) == 0 {
		return nil
	}
	return s.config.Journal.Commit(&others)
}

// Header returns the header of the current model, which nobody changes. The error wraps ErrNone.
func (s *Store) Header() (*service.ModelHeader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil, fmt.Errorf("%w: %w", fl.Invalid("model", "nothing", "one must have been published"), ErrNone)
	}
	return s.current.header, nil
}

// Send answers GetModel. Under [Codec] all readers share the messages. Readers of the model before the
// current one go on, and readers of older ones give way. The error wraps ErrNone or ErrRetired, or is
// the stream's or the journal's.
func (s *Store) Send(stream grpc.ServerStream) error {
	if _, err := s.Header(); err != nil {
		return err
	}
	m := s.join()
	defer s.leave(m)
	for i := range m.sent {
		part, err := s.part(m, i)
		if err != nil {
			return err
		}
		if err := stream.SendMsg(newEncoded(part)); err != nil {
			return err
		}
	}
	return nil
}

// join makes the caller a reader of the current model, until leave. There is one.
func (s *Store) join() *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.readers++
	return s.current
}

func (s *Store) leave(m *kept) {
	s.mu.Lock()
	m.readers--
	gone := s.retire()
	s.mu.Unlock()
	s.drop(gone)
}

// part returns a part of a model. It is in memory as long as somebody holds what part returns.
func (s *Store) part(m *kept, i int) (*[]byte, error) {
	if part, err := s.shared(m, i, nil); part != nil || err != nil {
		return part, err
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if part, err := s.shared(m, i, nil); part != nil || err != nil {
		return part, err // another reader was faster
	}
	data, err := s.config.Journal.Get(s.partKey(m.place, uint32(i)))
	if err == nil {
		return s.shared(m, i, &data)
	}
	if _, retired := s.shared(m, i, nil); retired != nil {
		err = retired // the part was there until then
	}
	return nil, err
}

// shared returns the part that is in memory, or puts one there unless it is nil.
func (s *Store) shared(m *kept, i int, part *[]byte) (*[]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.retired {
		return nil, fmt.Errorf("%w: %w", fl.Invalid("version", m.header.GetVersion(), "must be among the two newest"), ErrRetired)
	}
	if part == nil {
		return m.sent[i].Value(), nil
	}
	m.sent[i] = weak.Make(part)
	return part, nil
}

// set makes m the current model.
func (s *Store) set(m *kept) {
	s.mu.Lock()
	var gone []*kept
	if s.former != nil {
		s.former.retired = true
		gone = append(gone, s.former)
	}
	s.former, s.current = s.current, m
	gone = append(gone, s.retire()...)
	s.mu.Unlock()
	s.drop(gone)
}

// retire returns the former model if nobody reads it. The caller holds s.mu, and drops the model.
func (s *Store) retire() []*kept {
	if s.former == nil || s.former.readers > 0 {
		return nil
	}
	m := s.former
	m.retired, s.former = true, nil
	return []*kept{m}
}

// drop removes models from the journal. What stays there after an error, the next Open removes.
func (s *Store) drop(gone []*kept) {
	if len(gone) == 0 {
		return
	}
	var b journal.Batch
	for _, m := range gone {
		s.remove(&b, m.place)
	}
	_ = s.config.Journal.Commit(&b)
}

// remove deletes what is at a place.
func (s *Store) remove(b *journal.Batch, place uint64) {
	b.Delete(s.partKey(place, 0), s.partKey(place+1, 0))
}

func (s *Store) partKey(place uint64, part uint32) []byte {
	key := binary.BigEndian.AppendUint64([]byte(s.config.Key+"/"), place)
	return binary.BigEndian.AppendUint32(key, part)
}
