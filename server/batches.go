package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// batches remembers the batches of one round by their keys, so that none is
// counted twice. The round's lock protects it.
type batches map[string]*batch

type batch struct {
	content [32]byte
	counted bool
	settled chan struct{} // closed when counted is final
}

// contentOf identifies what a batch holds, so that a key that comes back with
// other reports is noticed.
func contentOf(reports [][]byte) (sum [32]byte) {
	h := sha256.New()
	var size [8]byte
	for _, r := range reports {
		binary.LittleEndian.PutUint64(size[:], uint64(len(r)))
		h.Write(size[:])
		h.Write(r)
	}
	h.Sum(sum[:0])
	return sum
}

// submit counts a batch. duplicate means that it had been counted before.
func (r *round) submit(ctx context.Context, key string, reports [][]byte) (duplicate bool, err error) {
	content := contentOf(reports)
	mine, duplicate, err := r.claim(ctx, key, content)
	if err != nil || duplicate {
		return duplicate, err
	}
	err = errInterrupted // stays so if the mechanism panics
	defer func() { r.settle(key, mine, int64(len(reports)), err) }()
	err = r.shards.add(ctx, reports)
	return false, err
}

// claim reserves a key for the caller, or finds that its batch is counted. It
// waits while another call is deciding about the same key.
func (r *round) claim(ctx context.Context, key string, content [32]byte) (mine *batch, duplicate bool, err error) {
	for {
		r.mu.Lock()
		other := r.batches[key]
		switch {
		case other == nil && r.closing:
			r.mu.Unlock()
			return nil, false, because(errClosed, "round_id", r.description.ID, "must be open")
		case other == nil:
			mine = &batch{content: content, settled: make(chan struct{})}
			r.batches[key] = mine
			r.inFlight++
			r.mu.Unlock()
			return mine, false, nil
		case other.content != content:
			r.mu.Unlock()
			return nil, false, fl.Invalid("batch_key", fmt.Sprintf("%x", key), "must be new for new reports: it was used for others")
		case other.counted:
			r.mu.Unlock()
			return nil, true, nil
		}
		r.mu.Unlock()
		select {
		case <-other.settled:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// settle ends the claim: the batch is counted, or its key is free again.
func (r *round) settle(key string, b *batch, n int64, err error) {
	r.mu.Lock()
	if err == nil {
		b.counted = true
		r.reports += n
	} else {
		delete(r.batches, key)
	}
	close(b.settled)
	if r.inFlight--; r.inFlight == 0 {
		r.idle.Broadcast()
	}
	full := r.description.TargetReports > 0 && r.reports >= int64(r.description.TargetReports)
	r.mu.Unlock()
	if full {
		r.stop("target reached")
	}
}
