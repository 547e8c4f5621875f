package disk

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// retryPause is how long the engine waits before it tries again to write a table: it never gives up.
const retryPause = 10 * time.Millisecond

// failure keeps why the journal stopped, and is the engine's logger and listener.
type failure struct {
	logger  *slog.Logger
	exit    func()
	cause   atomic.Pointer[error]
	stalled atomic.Bool // commits wait for the engine to write tables
}

// err returns nil, or an error that wraps ErrFailed.
func (f *failure) err() error {
	if cause := f.cause.Load(); cause != nil {
		return fmt.Errorf("%w: %w", ErrFailed, *cause)
	}
	return nil
}

// fail stops the journal. A commit that waits for the engine would wait for ever, so then the
// process ends.
func (f *failure) fail(cause error) {
	if f.cause.CompareAndSwap(nil, &cause) {
		f.logger.Error("journal: refuses everything from now on", "error", cause)
	}
	if f.stalled.Load() {
		f.Fatalf("commits wait for what cannot be written: %v", cause)
	}
}

// Fatalf implements pebble.Logger. The engine calls it when a write to its log has failed: what
// is on disk is unknown then, and no commit may be acknowledged.
func (f *failure) Fatalf(format string, args ...any) {
	f.logger.Error("journal: the process ends, since it is unknown what was written", "error", fmt.Sprintf(format, args...))
	f.exit()
}

// Errorf implements pebble.Logger.
func (f *failure) Errorf(format string, args ...any) {
	f.logger.Error("journal: engine", "error", fmt.Sprintf(format, args...))
}

// Infof implements pebble.Logger. Nobody needs to read what goes well.
func (f *failure) Infof(string, ...any) {}

// events returns what the engine calls when something happens in the background.
func (f *failure) events() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if !vfs.IsNoSpaceError(err) {
				f.fail(err)
			}
			time.Sleep(retryPause)
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			f.fail(fmt.Errorf("%w: %w", ErrDamaged, info.Details))
		},
		WriteStallBegin: func(pebble.WriteStallBeginInfo) {
			f.stalled.Store(true)
			if cause := f.cause.Load(); cause != nil {
				f.fail(*cause)
			}
		},
		WriteStallEnd: func() { f.stalled.Store(false) },
	}
}
