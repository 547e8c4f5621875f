package endpoint

import (
	"time"

	"github.com/hushgrad/hushgrad/server/internal/guard"
)

// Bounds are the limits that the listeners of a party have in common. See server.Limits, whose
// names they have.
type Bounds struct {
	MaxConnections   int
	MaxInFlightBytes int64
	MaxMessageBytes  int
	ProgressTimeout  time.Duration
}

// Operated returns what guards a listener that one known party reaches, whose calls may wait for
// hours. cost returns the memory that a message takes until it is handled, from its length.
func (b Bounds) Operated(cost func(bytes int) int64) guard.Limits {
	return guard.Limits{
		Connections:   b.MaxConnections,
		HeldBytes:     b.MaxInFlightBytes / 2,
		DecodingBytes: b.MaxInFlightBytes / 2,
		DecodingCost:  cost,
		MessageBytes:  b.MaxMessageBytes,
		UnaryBytes:    b.MaxMessageBytes,
		Progress:      b.ProgressTimeout,
	}
}

// Public returns what guards a listener that strangers reach: as Operated, with small requests,
// and connections that end after a while.
func (b Bounds) Public(cost func(bytes int) int64) guard.Limits {
	g := b.Operated(cost)
	g.UnaryBytes = 64 << 10
	g.Idle, g.Age, g.Grace = 5*time.Minute, time.Hour, 10*time.Minute
	return g
}
