// Package journaltest checks that a journal keeps its contract. Use it in the tests of a new
// journal.Journal. Start with [Run].
package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
)

// Run checks the journals that open returns: the same one each time, closed in between, with
// what was committed if durable, and an empty one otherwise.
func Run(t *testing.T, durable bool, open func(t *testing.T) journal.Journal) {
	t.Run("values", func(t *testing.T) { values(t, open(t)) })
	t.Run("batches", func(t *testing.T) { batches(t, durable, open) })
	t.Run("model", func(t *testing.T) { model(t, durable, open) })
	t.Run("goroutines", func(t *testing.T) { goroutines(t, open(t)) })
}

func closed(t *testing.T, j journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// values: what is put is found, and is the caller's.
func values(t *testing.T, j journal.Journal) {
	defer closed(t, j)
	key, value := []byte("values/key"), []byte("value")
	if _, err := j.Get(key); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a key without a value: %v", err)
	}
	for _, want := range [][]byte{value, {}} {
		var b journal.Batch
		b.Put(key, want)
		if err := j.Commit(&b); err != nil {
			t.Fatal(err)
		}
		got, err := j.Get(key)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		for i := range got {
			got[i] = 'X'
		}
		if again, err := j.Get(key); err != nil || !bytes.Equal(again, want) {
			t.Errorf("after the caller changed its copy: %q, %v, want %q", again, err, want)
		}
	}
}

// batches: changes are made in their order, and survive when the journal is durable.
func batches(t *testing.T, durable bool, open func(t *testing.T) journal.Journal) {
	j := open(t)
	var b journal.Batch
	b.Put([]byte("batches/a"), []byte("1"))
	b.Put([]byte("batches/b"), []byte("2"))
	b.Delete([]byte("batches/a"), []byte("batches/b"))
	b.Put([]byte("batches/c"), []byte("3"))
	b.Put([]byte("batches/c"), []byte("4"))
	if err := j.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if b.Bytes() != 4*9+4+2*9 {
		t.Errorf("the batch has %d bytes", b.Bytes())
	}
	check := func(want string) {
		t.Helper()
		if got := contents(t, j, "batches/"); got != want {
			t.Errorf("contents %q, want %q", got, want)
		}
	}
	check("batches/b=2 batches/c=4 ")
	closed(t, j)
	j = open(t)
	defer closed(t, j)
	if durable {
		check("batches/b=2 batches/c=4 ")
	} else {
		check("")
	}
}

func contents(t *testing.T, j journal.Journal, prefix string) string {
	t.Helper()
	text := ""
	for p, err := range j.Scan([]byte(prefix), journal.After([]byte(prefix))) {
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s=%s ", p.Key, p.Value)
	}
	return text
}

// model: a long random history gives what a map gives.
func model(t *testing.T, durable bool, open func(t *testing.T) journal.Journal) {
	rng := rand.New(rand.NewPCG(1, 2))
	key := func() []byte { return fmt.Appendf(nil, "model/%03d", rng.IntN(200)) }
	j, want := open(t), map[string]string{}
	for step := range 400 {
		var b journal.Batch
		for range rng.IntN(5) {
			if from, to := key(), key(); rng.IntN(4) == 0 && bytes.Compare(from, to) < 0 {
				b.Delete(from, to)
				for k := range want {
					if string(from) <= k && k < string(to) {
						delete(want, k)
					}
				}
			} else {
				b.Put(from, fmt.Append(nil, step))
				want[string(from)] = fmt.Sprint(step)
			}
		}
		if err := j.Commit(&b); err != nil {
			t.Fatal(err)
		}
		if durable && step%97 == 0 {
			closed(t, j)
			j = open(t)
		}
	}
	defer closed(t, j)
	text := ""
	for _, k := range slices.Sorted(maps.Keys(want)) {
		text += fmt.Sprintf("%s=%s ", k, want[k])
	}
	if got := contents(t, j, "model/"); got != text {
		t.Errorf("contents %q, want %q", got, text)
	}
	for range j.Scan([]byte("model/"), journal.After([]byte("model/"))) {
		break // a loop may end early
	}
}

// goroutines: calls from many goroutines keep their batches whole.
func goroutines(t *testing.T, j journal.Journal) {
	defer closed(t, j)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				var b journal.Batch
				b.Put(fmt.Appendf(nil, "goroutines/%d/a", g), fmt.Append(nil, i))
				b.Put(fmt.Appendf(nil, "goroutines/%d/b", g), fmt.Append(nil, i))
				if err := j.Commit(&b); err != nil {
					t.Error(err)
				}
				seen := map[string][]string{}
				for p, err := range j.Scan([]byte("goroutines/"), journal.After([]byte("goroutines/"))) {
					if err != nil {
						t.Error(err)
					}
					owner := string(bytes.Split(p.Key, []byte("/"))[1])
					seen[owner] = append(seen[owner], string(p.Value))
				}
				for owner, values := range seen {
					if len(values) != 2 || values[0] != values[1] {
						t.Errorf("goroutine %s: %q", owner, values)
					}
				}
			}
		})
	}
	wg.Wait()
}
