package main

import (
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
)

// textFlag is a flag and its value.
type textFlag struct{ flag, value string }

// notGiven returns an error with a rule for the first flag that has a value.
func notGiven(rule string, flags ...textFlag) error {
	for _, f := range flags {
		if f.value != "" {
			return fl.Invalid(f.flag, f.value, "%s", rule)
		}
	}
	return nil
}

// bindLimits binds the flags of what a server or a shuffler takes in. Their defaults are
// the limits' defaults.
func bindLimits(f *flag.FlagSet, l *server.Limits) {
	d, _ := server.Limits{}.WithDefaults() // the defaults are in their ranges
	f.IntVar(&l.MaxDim, "max-dim", d.MaxDim, "most coordinates of a round")
	f.IntVar(&l.MaxMessageBytes, "max-message-bytes", d.MaxMessageBytes, "largest gRPC message accepted")
	f.Int64Var(&l.MaxModelBytes, "max-model-bytes", d.MaxModelBytes, "largest model accepted; the directory of --data holds up to three")
	f.IntVar(&l.MaxConnections, "max-connections", d.MaxConnections, "connections at the same time, on each listener; one more closes an old one")
	f.Int64Var(&l.MaxInFlightBytes, "max-in-flight-bytes", d.MaxInFlightBytes, "memory for messages on their way in, on each listener; at least 8 times --max-message-bytes")
	f.DurationVar(&l.ProgressTimeout, "progress-timeout", d.ProgressTimeout, "how long a call waits for its peer to send or take a message")
	f.DurationVar(&l.ShutdownTimeout, "shutdown-timeout", d.ShutdownTimeout, "how long to wait for calls in progress")
}

// limitsOf lists the limits with their flags.
func limitsOf(l server.Limits) []limit {
	return []limit{
		{"--max-dim", int64(l.MaxDim)}, {"--max-message-bytes", int64(l.MaxMessageBytes)}, {"--max-model-bytes", l.MaxModelBytes},
		{"--max-connections", int64(l.MaxConnections)}, {"--max-in-flight-bytes", l.MaxInFlightBytes},
		{"--progress-timeout", int64(l.ProgressTimeout)}, {"--shutdown-timeout", int64(l.ShutdownTimeout)},
	}
}

// limit is a flag that bounds something.
type limit struct {
	flag  string
	value int64
}

// positive returns an error for the first limit that is not above zero. A server takes a zero for
// its default, which a flag of 0 does not ask for.
func positive(limits ...limit) error {
	for _, l := range limits {
		if l.value <= 0 {
			return fl.Invalid(l.flag, l.value, "must be > 0")
		}
	}
	return nil
}
