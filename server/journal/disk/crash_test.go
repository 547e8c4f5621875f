package disk_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

const (
	writers = 16
	parts   = 4 // keys of a batch
)

// partKey names a part of a batch: life, goroutine, number of the batch and of the part.
func partKey(life string, g, n, part int) string {
	return fmt.Sprintf("crash/%s/%02d/%06d/%d", life, g, n, part)
}

// partValue is what belongs there: from 50 bytes to 12 KiB, so that batches have less and more
// than a block of the engine's log.
func partValue(key string) []byte {
	n := 50
	if key[len(key)-3]%4 == 0 {
		n = 12 << 10
	}
	return bytes.Repeat([]byte(key), n/len(key)+1)
}

// writer commits numbered batches from many goroutines until it is killed, and prints the number
// of each one that was acknowledged.
func writer(dir, life string) error {
	j, err := disk.Open(dir, small())
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			for n := 0; err == nil; n++ {
				var b journal.Batch
				for part := range parts {
					key := partKey(life, g, n, part)
					b.Put([]byte(key), partValue(key))
				}
				if err := j.Commit(&b); err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println(g, n)
			}
		})
	}
	wg.Wait()
	return j.Close()
}

// 30 processes are killed after 1 to 300 acknowledgements. After each, the journal holds all
// batches that the process acknowledged, up to 30·(300 + what the pipe held), and no half of one.
func TestNothingAcknowledgedIsLostByAKill(t *testing.T) {
	t.Parallel() // it waits for the disk
	dir := filepath.Join(t.TempDir(), "journal")
	rng := rand.New(rand.NewPCG(7, 3))
	acknowledged := map[string]string{}
	lives := 10
	if *long {
		lives = 30
	}
	for life := range lives {
		cmd, out, stderr := start(t, "writer", dir, fmt.Sprint(life))
		kill := 1 + rng.IntN(300)
		for lines := 0; ; lines++ {
			if lines == kill {
				must(t, cmd.Process.Kill())
			}
			line, err := out.ReadString('\n') // also what was printed before the kill
			if err == io.EOF {
				if lines < kill {
					t.Fatalf("life %d ended by itself: %s", life, stderr)
				}
				break
			}
			must(t, err)
			var g, n int
			if _, err := fmt.Sscan(line, &g, &n); err != nil {
				t.Fatalf("life %d says %q", life, line)
			}
			for part := range parts {
				key := partKey(fmt.Sprint(life), g, n, part)
				acknowledged[key] = string(partValue(key))
			}
		}
		_ = cmd.Wait()
		j := open(t, dir, small())
		if life%10 == 9 {
			checkCrash(t, j, "crash/", acknowledged)
		} else {
			prefix := fmt.Sprintf("crash/%d/", life)
			checkCrash(t, j, prefix, acknowledged)
		}
		must(t, j.Close())
	}
	t.Logf("%d batches were acknowledged", len(acknowledged)/parts)
}

// checkCrash checks the keys with a prefix: what was acknowledged is there, and every batch whole.
func checkCrash(t *testing.T, j journal.Journal, prefix string, acknowledged map[string]string) {
	t.Helper()
	found, err := read(j, prefix)
	must(t, err)
	lost, sizes := 0, map[string]int{}
	for key, value := range acknowledged {
		if strings.HasPrefix(key, prefix) && found[key] != value {
			lost++
		}
	}
	for key, value := range found {
		if sizes[key[:len(key)-2]]++; value != string(partValue(key)) {
			t.Errorf("%s has another value", key)
		}
	}
	if lost > 0 {
		t.Errorf("%s: %d of %d acknowledged pairs are lost", prefix, lost, len(acknowledged))
	}
	for batch, size := range sizes {
		if size != parts {
			t.Errorf("%d of %d parts of batch %s are there", size, parts, batch)
		}
	}
}
