package server

import (
	"cmp"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// Smallest and largest Limits.MaxMessageBytes.
const (
	MinMessageBytes = 64 << 10
	MaxMessageBytes = 1 << 30
)

// Limits bound what a server or a shuffler takes in from its peers: sizes, connections, memory and
// times. The zero value of every field means its default.
type Limits struct {
	// MaxDim bounds the coordinates of a round. Default fl.DefaultMaxDim, at most fl.MaxDim.
	MaxDim int
	// MaxMessageBytes bounds one gRPC message after decompression. Default 4 MiB,
	// at least 64 KiB, at most 1 GiB.
	MaxMessageBytes int
	// MaxModelBytes bounds a model that is published or passed on. Default 1 GiB.
	MaxModelBytes int64
	// MaxConnections bounds the connections at the same time, on each listener. When one too
	// many comes, an old one is closed. Default 1024.
	MaxConnections int
	// MaxInFlightBytes bounds the memory for messages that are on their way in or being
	// handled, on each listener. When peers send more than half of it without completing
	// their messages, connections are closed. Default 256 MiB or 16 times MaxMessageBytes,
	// whichever is more; at least 8 times MaxMessageBytes.
	MaxInFlightBytes int64
	// ProgressTimeout is how long a call waits for its peer to send a message or to take
	// one. Default 30 s.
	ProgressTimeout time.Duration
	// ShutdownTimeout is how long Serve waits for calls in progress when its
	// context ends. Default 2 s.
	ShutdownTimeout time.Duration
}

// WithDefaults returns the limits with defaults in place of zeros, or an *fl.ParamError that names
// the field which is out of its range.
func (l Limits) WithDefaults() (Limits, error) {
	l.MaxDim = cmp.Or(l.MaxDim, fl.DefaultMaxDim)
	l.MaxMessageBytes = cmp.Or(l.MaxMessageBytes, 4<<20)
	l.MaxModelBytes = cmp.Or(l.MaxModelBytes, 1<<30)
	l.MaxConnections = cmp.Or(l.MaxConnections, 1024)
	l.MaxInFlightBytes = cmp.Or(l.MaxInFlightBytes, max(256<<20, 16*int64(l.MaxMessageBytes)))
	l.ProgressTimeout = cmp.Or(l.ProgressTimeout, 30*time.Second)
	l.ShutdownTimeout = cmp.Or(l.ShutdownTimeout, 2*time.Second)
	switch {
	case l.MaxDim < 0 || l.MaxDim > fl.MaxDim:
		return l, fl.Invalid("MaxDim", l.MaxDim, "must be in [1, %d]", fl.MaxDim)
	case l.MaxMessageBytes < MinMessageBytes || l.MaxMessageBytes > MaxMessageBytes:
		return l, fl.Invalid("MaxMessageBytes", l.MaxMessageBytes, "must be in [%d, %d]", MinMessageBytes, MaxMessageBytes)
	case l.MaxModelBytes < 0:
		return l, fl.Invalid("MaxModelBytes", l.MaxModelBytes, "must be > 0")
	case l.MaxConnections < 0:
		return l, fl.Invalid("MaxConnections", l.MaxConnections, "must be > 0")
	case l.MaxInFlightBytes < 8*int64(l.MaxMessageBytes):
		return l, fl.Invalid("MaxInFlightBytes", l.MaxInFlightBytes, "must be at least 8 times MaxMessageBytes = %d", l.MaxMessageBytes)
	case l.ProgressTimeout < 0:
		return l, fl.Invalid("ProgressTimeout", l.ProgressTimeout, "must be > 0")
	case l.ShutdownTimeout < 0:
		return l, fl.Invalid("ShutdownTimeout", l.ShutdownTimeout, "must be > 0")
	}
	return l, nil
}
