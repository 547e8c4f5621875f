package disk_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// Processes are killed at any moment after their start, so also while they open the journal, make
// new logs, and write tables. None of these kills is taken for damage, and nothing acknowledged is lost.
func TestAKillAtAnyMomentIsNotDamage(t *testing.T) {
	t.Parallel() // it waits for the disk
	kills := 8
	if *long {
		kills = 40
	}
	dir := filepath.Join(t.TempDir(), "journal")
	rng := rand.New(rand.NewPCG(5, 31))
	var acknowledged []string
	for life := range kills {
		cmd, out, stderr := start(t, "rotator", dir, fmt.Sprint(life))
		printed := make(chan string)
		go func() {
			var text strings.Builder
			_, _ = out.WriteTo(&text)
			printed <- text.String()
		}()
		time.Sleep(time.Duration(rng.Int64N(int64(150 * time.Millisecond))))
		must(t, cmd.Process.Kill())
		lines := strings.Split(<-printed, "\n")
		err := cmd.Wait()
		if cmd.ProcessState.Exited() || err == nil || stderr.Len() > 0 {
			t.Fatalf("life %d ended by itself: %v, %s", life, err, stderr)
		}
		acknowledged = append(acknowledged, lines[:len(lines)-1]...)
	}
	found, err := read(open(t, dir, small()), "rotator/")
	must(t, err)
	for _, key := range acknowledged {
		if found[key] != rotated(key) {
			t.Errorf("%s is lost", key)
		}
	}
	t.Logf("%d acknowledged, %d found", len(acknowledged), len(found))
}

// rotated is the value of a key.
func rotated(key string) string { return strings.Repeat(key, 500) }

// rotator commits until it is killed, and prints what was acknowledged.
func rotator(dir, life string) error {
	j, err := disk.Open(dir, small())
	for n := 0; err == nil; n++ {
		key := fmt.Sprintf("rotator/%s/%06d", life, n)
		if err = put(j, key, []byte(rotated(key))); err == nil {
			fmt.Println(key)
		}
	}
	return err
}
