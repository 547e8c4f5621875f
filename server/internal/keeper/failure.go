package keeper

import (
	"context"
	"sync/atomic"
)

// failure is the first failure of a journal. It is safe for concurrent use.
type failure struct {
	first atomic.Pointer[error]
	met   chan struct{} // closed with the first failure
}

// note keeps an error if it is the first, and says whether it is.
func (f *failure) note(err error) bool {
	first := f.first.CompareAndSwap(nil, &err)
	if first {
		close(f.met)
	}
	return first
}

// Broken returns the first failure, and nil if there was none.
func (f *failure) Broken() error {
	if first := f.first.Load(); first != nil {
		return *first
	}
	return nil
}

// Failed returns a channel that is closed with the first failure.
func (f *failure) Failed() <-chan struct{} { return f.met }

// Await returns the first failure as soon as there is one, and nil when ctx ends before.
func (f *failure) Await(ctx context.Context) error {
	select {
	case <-f.met:
		return f.Broken()
	case <-ctx.Done():
		return nil
	}
}
