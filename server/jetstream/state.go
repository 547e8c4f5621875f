package jetstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// state is the leader's journal: a stream of changes, and in memory what they add up to. Every
// write names the number of the last one, so that after the first write of a new leader all writes
// of the old one fail.
//
// A message is a kind, the writer, a counter of the writer's messages, and a part of a batch.
type state struct {
	*Cluster
	ctx    context.Context // ends with the leadership
	failed func(error)     // told of the first failure
	writer [16]byte

	mu     sync.Mutex
	memory *journal.Memory
	last   uint64 // number of the last message
	count  uint64 // messages of this writer
	bytes  int64  // of the messages since the beginning of the stream
	most   int64  // bytes from which on the stream may be written anew
	err    error  // the first failure
}

const (
	kindTerm = 'T' // a new leader: parts of a batch that are not complete will never be
	kindPart = 'P' // a part of a batch, not the last one
	kindLast = 'L' // the last part of a batch

	stateHeader = 1 + 16 + 8
	// partBytes is the payload of a message.
	partBytes = 512 << 10
	// compactBytes is how much there is at least in the stream before it is written anew.
	compactBytes = 64 << 20
	// maxStateBytes bounds a batch that is read.
	maxStateBytes = 4 << 30
)

// openState returns the journal of a new leader. ctx ends with the leadership. failed is told when
// another leader has written, or the brokers refuse.
func (c *Cluster) openState(ctx context.Context, failed func(error)) (*state, error) {
	s := &state{Cluster: c, ctx: ctx, failed: failed, memory: journal.NewMemory(), most: compactBytes}
	_, _ = rand.Read(s.writer[:]) // never fails
	var parts []byte
	for {
		if err := s.replay(&parts); err != nil {
			return nil, err
		}
		err := s.append(kindTerm, nil)
		if !errors.Is(err, errFenced) {
			return s, err
		}
		// Messages that were not seen yet.
	}
}

// replay reads what is in the stream behind the last message.
func (s *state) replay(parts *[]byte) error {
	for {
		msg, err := s.next()
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			err = s.replayed(msg.Data, parts)
		}
		if err != nil {
			return fmt.Errorf("state: %w", err)
		}
		s.last = msg.Sequence
		s.bytes += int64(len(msg.Data))
	}
}

// next returns the message behind the last one.
func (s *state) next() (msg *jetstream.RawStreamMsg, err error) {
	err = again(s.ctx, func(ctx context.Context) (err error) {
		msg, err = s.state.GetMsg(ctx, s.last+1, jetstream.WithGetMsgSubject(s.stateSubject()))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			msg, err = nil, nil
		}
		return err
	})
	if err == nil && msg == nil {
		err = jetstream.ErrMsgNotFound
	}
	return msg, err
}

// replayed makes the changes of a message, or keeps it until the last part is there.
func (s *state) replayed(data []byte, parts *[]byte) error {
	kind, part, err := parseStateMessage(data)
	if err != nil {
		return err
	}
	if kind == kindTerm {
		*parts = nil
		return nil
	}
	if len(*parts)+len(part) > maxStateBytes {
		return fl.Invalid("batch", len(*parts)+len(part), "must have at most %d bytes", maxStateBytes)
	}
	*parts = append(*parts, part...)
	if kind == kindPart {
		return nil
	}
	b, err := parseBatch(*parts)
	*parts = nil // the batch keeps it
	if err != nil {
		return err
	}
	return s.memory.Commit(b)
}

// parseStateMessage returns the kind and the part of a batch in a message.
func parseStateMessage(data []byte) (kind byte, part []byte, err error) {
	if len(data) < stateHeader || len(data) > maxMessageBytes {
		return 0, nil, fl.Invalid("message", fmt.Sprintf("%d bytes", len(data)), "must have %d to %d", stateHeader, maxMessageBytes)
	}
	kind, part = data[0], data[stateHeader:]
	if kind != kindPart && kind != kindLast && (kind != kindTerm || len(part) > 0) {
		return 0, nil, fl.Invalid("kind", kind, "must be known, and have no body for a term")
	}
	return kind, part, nil
}

// append writes a message behind the last one. The error wraps errFenced when there is another one.
func (s *state) append(kind byte, part []byte) error {
	data := append(make([]byte, 0, stateHeader+len(part)), kind)
	data = append(data, s.writer[:]...)
	data = binary.BigEndian.AppendUint64(data, s.count)
	data = append(data, part...)
	s.count++
	err := again(s.ctx, func(ctx context.Context) error {
		trying, cancel := context.WithTimeout(ctx, attempt)
		defer cancel()
		ack, err := s.js.Publish(trying, s.stateSubject(), data,
			jetstream.WithExpectStream(s.state.CachedInfo().Config.Name), jetstream.WithExpectLastSequence(s.last), jetstream.WithRetryAttempts(0))
		if err == nil {
			s.last = ack.Sequence
			return nil
		}
		found, seen := s.state.GetMsg(ctx, s.last+1, jetstream.WithGetMsgSubject(s.stateSubject()))
		switch {
		case seen != nil:
			return err
		case !bytes.Equal(found.Data, data):
			return fmt.Errorf("%w: leader", errFenced)
		}
		s.last = found.Sequence // the answer was lost
		return nil
	})
	if err == nil {
		s.bytes += int64(len(data))
	}
	return err
}

// Get implements journal.Journal.
func (s *state) Get(key []byte) ([]byte, error) { return s.memory.Get(key) }

// Scan implements journal.Journal.
func (s *state) Scan(from, to []byte) iter.Seq2[journal.Pair, error] { return s.memory.Scan(from, to) }

// Commit implements journal.Journal. It returns when a majority of the nodes has the batch on disk.
func (s *state) Commit(b *journal.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b.Changes()) == 0 {
		return nil
	}
	err := s.write(b)
	if err == nil {
		err = s.memory.Commit(b)
	}
	if err == nil && s.bytes > s.most {
		err = s.compact()
	}
	return err
}

// confirm returns nil if no other leader has written before the call.
func (s *state) confirm() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(&journal.Batch{})
}

// write appends a batch. After an error nothing is written any more.
func (s *state) write(b *journal.Batch) error {
	if s.err != nil {
		return s.err
	}
	rest := marshalBatch(b)
	if _, err := parseBatch(rest); err != nil {
		return err // nobody could read it
	}
	for kind := byte(kindPart); kind == kindPart; {
		n := min(partBytes, len(rest))
		if n == len(rest) {
			kind = kindLast
		}
		if err := s.append(kind, rest[:n]); err != nil {
			s.err = fmt.Errorf("state: %w", err)
			s.failed(s.err)
			return s.err
		}
		rest = rest[n:]
	}
	return nil
}

// compact writes everything anew and deletes what was before, if that makes room.
func (s *state) compact() error {
	all := &journal.Batch{}
	all.Delete(nil, []byte{0xff})
	for pair, err := range s.memory.Scan(nil, []byte{0xff}) {
		if err != nil {
			return err
		}
		all.Put(pair.Key, pair.Value)
	}
	if s.bytes < 2*int64(all.Bytes()) {
		return nil
	}
	first := s.last + 1
	s.bytes = 0
	if err := s.write(all); err != nil {
		return err
	}
	// What is left is deleted the next time: it is overwritten when it is read.
	trying, cancel := context.WithTimeout(s.ctx, 5*attempt)
	defer cancel()
	if err := s.state.Purge(trying, jetstream.WithPurgeSequence(first)); err != nil {
		s.cfg.Logger.Warn("old changes of the state are left", "error", err)
	}
	return nil
}

// Close implements journal.Journal.
func (s *state) Close() error { return nil }
