package server_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
)

func TestZerosMeanDefaults(t *testing.T) {
	want := server.Limits{
		MaxDim:          16_777_216,
		MaxMessageBytes: 4_194_304, // gRPC's own default, which clients count on
		MaxModelBytes:   1_073_741_824,
		MaxConnections:  1024, MaxInFlightBytes: 268_435_456,
		ProgressTimeout: 30 * time.Second, ShutdownTimeout: 2 * time.Second,
	}
	if got, err := (server.Limits{}).WithDefaults(); err != nil || got != want {
		t.Errorf("defaults %+v, %v, want %+v", got, err, want)
	}
	if got, err := (server.Limits{MaxMessageBytes: 64 << 20}).WithDefaults(); err != nil || got.MaxInFlightBytes != 1<<30 {
		t.Errorf("for large messages: %d bytes in flight, %v, want 16 messages", got.MaxInFlightBytes, err)
	}
	set := server.Limits{
		MaxDim: 5, MaxMessageBytes: server.MinMessageBytes, MaxModelBytes: 1, MaxConnections: 1, MaxInFlightBytes: 512 << 10,
		ProgressTimeout: time.Microsecond, ShutdownTimeout: time.Millisecond,
	}
	if got, err := set.WithDefaults(); err != nil || got != set {
		t.Errorf("%+v became %+v, %v", set, got, err)
	}
}

func TestLimitsOutOfRangeAreNamed(t *testing.T) {
	for _, c := range []struct {
		param  string
		limits server.Limits
	}{
		{"MaxDim", server.Limits{MaxDim: -1}}, {"MaxDim", server.Limits{MaxDim: fl.MaxDim + 1}},
		{"MaxMessageBytes", server.Limits{MaxMessageBytes: server.MinMessageBytes - 1}}, {"MaxMessageBytes", server.Limits{MaxMessageBytes: server.MaxMessageBytes + 1}},
		{"MaxModelBytes", server.Limits{MaxModelBytes: -1}}, {"MaxConnections", server.Limits{MaxConnections: -1}},
		{"MaxInFlightBytes", server.Limits{MaxInFlightBytes: 32<<20 - 1}}, {"ProgressTimeout", server.Limits{ProgressTimeout: -1}},
		{"ShutdownTimeout", server.Limits{ShutdownTimeout: -1}},
	} {
		var p *fl.ParamError
		if _, err := c.limits.WithDefaults(); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%+v: %v, want an error about %s", c.limits, err, c.param)
		}
	}
}
