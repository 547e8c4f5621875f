package server

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

func TestConfigDefaults(t *testing.T) {
	kept := journal.NewMemory()
	got, err := Config{Journal: kept}.withDefaults()
	defaults, _ := Limits{}.WithDefaults()
	want := Config{Logger: slog.Default(), Journal: kept, MaxOpenRounds: 16, KeepRounds: 16, Limits: defaults}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("defaults %+v, %v, want %+v", got, err, want)
	}
	defaults.MaxDim = 5
	set := Config{Logger: slog.New(slog.DiscardHandler), Journal: kept, MaxOpenRounds: 2, KeepRounds: 3, Limits: defaults}
	if got, err := (Config{}).withDefaults(); err != nil || got.Journal == nil {
		t.Errorf("no journal by default: %+v, %v", got, err)
	}
	if got, err := set.withDefaults(); err != nil || !reflect.DeepEqual(got, set) {
		t.Errorf("%+v became %+v, %v", set, got, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, cfg := range []Config{{MaxOpenRounds: -1}, {KeepRounds: -1}, {Limits: Limits{MaxDim: -1}}} {
		_, err := New(cfg)
		var p *fl.ParamError
		if !errors.As(err, &p) {
			t.Errorf("New(%+v): error %v, want a ParamError", cfg, err)
		}
	}
}
