package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"weak"

	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

const (
	// partBytes is the payload of one message of a model. A reader that does not read makes the
	// server keep one or two of them, even of a model that was replaced.
	partBytes = 64 << 10
	// commitBytes is about how much of a model goes into the journal at once.
	commitBytes = 4 << 20
)

// Upload is a model on its way into the journal, where its parts are as soon as there are commitBytes
// of them.
type Upload struct {
	store  *Store
	place  uint64
	header *service.ModelHeader
	hash   hash.Hash
	size   uint64
	parts  uint32        // that were flushed, with the header
	begun  bool          // some parts are in the journal
	batch  journal.Batch // those that are not yet
	next   []byte        // what will be the next part
}

// Upload begins a model. Exactly one of Finish and Abort must follow.
func (s *Store) Upload() *Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return &Upload{store: s, place: s.last, hash: sha256.New(), parts: 1}
}

// Add takes one message. Only the first one has a header. The error is a *fl.ParamError or the
// journal's.
func (u *Upload) Add(h *service.ModelHeader, data []byte) error {
	if u.header == nil {
		if err := checkHeader(h, u.store.config.MaxBytes); err != nil {
			return err
		}
		u.header = h
	} else if h != nil {
		return fl.Invalid("header", "a second one", "belongs in the first message only")
	}
	u.size += uint64(len(data))
	if u.size > u.header.GetSize() {
		return fl.Invalid("data", fmt.Sprintf("%d bytes or more", u.size), "must be header.size = %d bytes", u.header.GetSize())
	}
	_, _ = u.hash.Write(data) // never fails
	for len(data) > 0 {
		n := min(len(data), partBytes-len(u.next))
		u.next, data = append(u.next, data[:n]...), data[n:]
		if len(u.next) < partBytes {
			break
		}
		if err := u.flush(); err != nil {
			return err
		}
		if u.batch.Bytes() >= commitBytes {
			u.begun = true
			if err := u.store.config.Journal.Commit(&u.batch); err != nil {
				return err
			}
			u.batch = journal.Batch{}
		}
	}
	return nil
}

// flush makes a part of next.
func (u *Upload) flush() error {
	part, err := proto.Marshal(&service.GetModelResponse{Data: u.next})
	u.batch.Put(u.store.partKey(u.place, u.parts), part)
	u.parts, u.next = u.parts+1, u.next[:0]
	return err
}

// Finish checks the model as a whole and makes it the current one, with the given version. The error is a
// *fl.ParamError or the journal's.
func (u *Upload) Finish(version uint64) error {
	_, err := u.finish(version, 0)
	return err
}

// FinishAfter is Finish with a version after the current one, and after one that is given. It returns the
// header. The current model again changes nothing and has the current version: a publisher that was
// interrupted publishes again.
func (u *Upload) FinishAfter(version uint64) (*service.ModelHeader, error) {
	return u.finish(0, version)
}

// finish makes the model the current one, with a version, or for 0 with the next one after another.
func (u *Upload) finish(version, after uint64) (h *service.ModelHeader, err error) {
	defer func() {
		if err != nil {
			u.Abort()
		}
	}()
	switch sum := u.hash.Sum(nil); {
	case u.header == nil:
		return nil, checkHeader(nil, u.store.config.MaxBytes)
	case u.size != u.header.GetSize():
		return nil, fl.Invalid("data", fmt.Sprintf("%d bytes", u.size), "must be header.size = %d bytes", u.header.GetSize())
	case !bytes.Equal(sum, u.header.GetSha256()):
		return nil, fl.Invalid("header.sha256", fmt.Sprintf("%x", u.header.GetSha256()), "must be the data's, %x", sum)
	case len(u.next) > 0:
		if err := u.flush(); err != nil {
			return nil, err
		}
	}
	s := u.store
	s.finishing.Lock()
	defer s.finishing.Unlock()
	if version == 0 {
		version = after + 1
		if now, err := s.Header(); err == nil {
			if now.GetFormat() == u.header.GetFormat() && bytes.Equal(now.GetSha256(), u.header.GetSha256()) {
				u.Abort()
				return now, nil
			}
			version = max(version, now.GetVersion()+1)
		}
	}
	h = &service.ModelHeader{Version: version, Format: u.header.GetFormat(), Size: u.header.GetSize(), Sha256: u.header.GetSha256()}
	first, err := proto.Marshal(&service.GetModelResponse{Header: h})
	if err != nil {
		return nil, err
	}
	u.batch.Put(s.partKey(u.place, 0), first)
	u.batch.Put([]byte(s.config.Key), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, version), u.place))
	if err := s.config.Journal.Commit(&u.batch); err != nil {
		if !errors.Is(err, journal.ErrFull) {
			u.begun = false // the journal may point to the parts: the next Open finds out
		}
		return nil, err
	}
	s.set(&kept{header: h, place: u.place, sent: make([]weak.Pointer[[]byte], u.parts)})
	return h, nil
}

// Abort removes what is in the journal of a model that did not come as a whole.
func (u *Upload) Abort() {
	if u.begun {
		u.store.drop([]*kept{{place: u.place}})
	}
}

// checkHeader checks what a model is announced with.
func checkHeader(h *service.ModelHeader, maxBytes int64) error {
	switch {
	case h == nil:
		return fl.Invalid("header", "nothing", "is required in the first message")
	case h.GetFormat() == "" || len(h.GetFormat()) > 128:
		return fl.Invalid("header.format", h.GetFormat(), "must have 1 to 128 bytes")
	case h.GetSize() == 0 || h.GetSize() > uint64(maxBytes):
		return fl.Invalid("header.size", h.GetSize(), "must be in [1, %d]", maxBytes)
	case len(h.GetSha256()) != sha256.Size:
		return fl.Invalid("header.sha256", fmt.Sprintf("%d bytes", len(h.GetSha256())), "must have %d", sha256.Size)
	}
	return nil
}
