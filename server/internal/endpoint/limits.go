package endpoint

import (
	"time"

	"github.com/hushgrad/hushgrad/server/internal/guard"
	"github.com/hushgrad/hushgrad/server/limits"
)

// Operated returns what guards a listener that one known party reaches, whose calls may wait for
// hours. cost returns the memory that a message takes until it is handled, from its length.
func Operated(l limits.Limits, cost func(bytes int) int64) guard.Limits {
	return guard.Limits{
		Connections:   l.MaxConnections,
		HeldBytes:     l.MaxInFlightBytes / 2,
		DecodingBytes: l.MaxInFlightBytes / 2,
		DecodingCost:  cost,
		MessageBytes:  l.MaxMessageBytes,
		UnaryBytes:    l.MaxMessageBytes,
		Progress:      l.ProgressTimeout,
	}
}

// Public returns what guards a listener that strangers reach: as Operated, with small requests,
// and connections that end after a while.
func Public(l limits.Limits, cost func(bytes int) int64) guard.Limits {
	g := Operated(l, cost)
	g.UnaryBytes = 64 << 10
	g.Idle, g.Age, g.Grace = 5*time.Minute, time.Hour, 10*time.Minute
	return g
}
