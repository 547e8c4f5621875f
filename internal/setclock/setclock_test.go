//go:build setclock && linux && amd64

package setclock

import (
	"path/filepath"
	"testing"
	"time"
)

func TestTheTimeOfDayFollowsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	set := func(off time.Duration) {
		t.Helper()
		if err := Set(path, off); err != nil {
			t.Fatal(err)
		}
	}
	set(0)
	if err := Follow(path); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	at := before.Round(0) // without its reading of the monotonic clock
	for _, want := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		set(want)
		for end := before.Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if off := time.Now().Round(0).Sub(at) - want; off > -time.Hour && off < time.Hour {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the time of day is %v, want %v from %v", time.Now(), want, at)
			}
		}
		if passed := time.Since(before); passed < 0 || passed > time.Hour {
			t.Errorf("the monotonic clock was set, too: %v", passed)
		}
	}
}
