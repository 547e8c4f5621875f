package server

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

func TestConfigDefaults(t *testing.T) {
	kept := journal.NewMemory()
	got, err := Config{Journal: kept}.withDefaults()
	want := Config{
		Logger:          slog.Default(),
		Journal:         kept,
		MaxMessageBytes: 4_194_304, // gRPC's own default, which clients count on
		MaxModelBytes:   1_073_741_824,
		MaxDim:          16_777_216,
		MaxOpenRounds:   16,
		KeepRounds:      16,
		MaxConnections:  1024, MaxInFlightBytes: 268_435_456, ProgressTimeout: 30 * time.Second,
		ShutdownTimeout: 2 * time.Second,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("defaults %+v, %v, want %+v", got, err, want)
	}
	set := Config{
		Logger: slog.New(slog.DiscardHandler), Journal: kept, MaxMessageBytes: 64 << 10, MaxModelBytes: 1, MaxDim: 5, MaxOpenRounds: 2,
		KeepRounds: 3, ShutdownTimeout: time.Millisecond,
		MaxConnections: 1, MaxInFlightBytes: 512 << 10, ProgressTimeout: time.Microsecond,
	}
	if got, err := (Config{}).withDefaults(); err != nil || got.Journal == nil {
		t.Errorf("no journal by default: %+v, %v", got, err)
	}
	if got, err := (Config{MaxMessageBytes: 64 << 20}).withDefaults(); err != nil || got.MaxInFlightBytes != 1<<30 {
		t.Errorf("for large messages: %d bytes in flight, %v, want 16 messages", got.MaxInFlightBytes, err)
	}
	if got, err := set.withDefaults(); err != nil || !reflect.DeepEqual(got, set) {
		t.Errorf("%+v became %+v, %v", set, got, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{MaxMessageBytes: 1000}, {MaxMessageBytes: 2 << 30}, {MaxModelBytes: -1}, {MaxDim: -1}, {MaxDim: fl.MaxDim + 1}, {MaxOpenRounds: -1}, {KeepRounds: -1}, {ShutdownTimeout: -1},
		{MaxConnections: -1}, {MaxInFlightBytes: 32<<20 - 1}, {ProgressTimeout: -1},
	} {
		_, err := New(cfg)
		var p *fl.ParamError
		if !errors.As(err, &p) {
			t.Errorf("New(%+v): error %v, want a ParamError", cfg, err)
		}
	}
}
