//go:build setclock && linux && amd64

package cluster_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/setclock"
)

// clockFile has the seconds by which the clock of a process is off, on its disk.
const clockFile = "clock"

func init() {
	if dir := os.Getenv(dirEnv); dir != "" {
		path := filepath.Join(dir, clockFile)
		if err := setclock.Set(path, 0); err != nil {
			panic(err)
		}
		if err := setclock.Follow(path); err != nil {
			panic(err)
		}
	}
}

// The clock of each node and of each member is set a day ahead, then two days back, and then right, under load: every report is counted once.
func TestClocksOfAClusterThatAreADayOff(t *testing.T) {
	trouble(t, 6, func(i int, f *farm, l *load) {
		p := slices.Concat(f.nodes, f.members)[i]
		for _, off := range []time.Duration{24 * time.Hour, -24 * time.Hour, 0} {
			if err := setclock.Set(filepath.Join(p.disk, clockFile), off); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second + l.pause())
		}
	})
}
