package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestProgressCounts(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, "")
	p.visible = true
	p.Step() // nobody announced it
	p.Describe("n = 1000")
	p.Grow(2)
	p.Step()
	p.Grow(2)
	p.Grow(-1)
	p.Describe("n = 2000")
	if state := p.bar.State(); state.CurrentNum != 1 || state.Max != 4 || state.Description != "n = 2000" {
		t.Errorf("state %+v, want 1 of 4 and the last description", state)
	}
	for range 3 {
		p.Step()
	}
	if p.bar != nil || lastLine(&out) != "" {
		t.Errorf("shows %q when all is done, want nothing", lastLine(&out))
	}
	p.Grow(3)
	p.Describe("more")
	if got := lastLine(&out); !strings.Contains(got, "more") || !strings.Contains(got, "(0/3)") {
		t.Errorf("shows %q for what comes later, want 0 of 3", got) // a new bar's first line is never held back
	}
	p.Close()
	if got := lastLine(&out); got != "" {
		t.Errorf("shows %q when closed, want nothing", got)
	}
	p.Close()
	before := out.Len()
	p.Step()
	if out.Len() != before {
		t.Errorf("shows %q for a step after Close", lastLine(&out))
	}
}

// lastLine returns what a terminal shows after all that was written.
func lastLine(out *bytes.Buffer) string {
	text := out.String()
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\r')+1:])
}

func TestTheBarIsForTerminalsOnly(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out bytes.Buffer
	for _, p := range []*Bar{New(&out, ""), New(file, "")} {
		p.Describe("working")
		p.Grow(2)
		p.Step()
		p.Close()
	}
	info, err := file.Stat()
	if err != nil || info.Size() != 0 || out.Len() != 0 {
		t.Errorf("%d and %d bytes, error %v, want none", info.Size(), out.Len(), err)
	}
}

// Where there is no terminal a line comes every ten seconds, and says how long the rest takes at the same pace.
func TestLinesWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	p, clock := New(&out, ""), time.Unix(0, 0)
	p.now = func() time.Time { return clock }
	step := func(after time.Duration) {
		clock = clock.Add(after)
		p.Step()
	}
	p.Describe("table 3")
	p.Grow(10)
	step(4 * time.Second)
	step(5 * time.Second)
	if out.Len() != 0 {
		t.Errorf("after nine seconds %q", out.String())
	}
	step(3 * time.Second)
	step(time.Second)
	step(9 * time.Second)
	if got, want := out.String(), "table 3: 3 of 10, about 28s left\ntable 3: 5 of 10, about 23s left\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	out.Reset()
	for range 5 {
		step(time.Minute)
	}
	if got := strings.Count(out.String(), "\n"); got != 4 {
		t.Errorf("%d lines for the rest, want none for the last step:\n%s", got, out.String())
	}
	p.Describe("shares")
	out.Reset()
	p.Grow(100_000) // processes are started before the first step
	step(30 * time.Second)
	if got := out.String(); got != "shares: 1 of 100000\n" {
		t.Errorf("after the first step alone it wrote %q", got)
	}
}

func TestProgressFromManyGoroutines(t *testing.T) {
	const workers, steps = 8, 200
	var out bytes.Buffer
	p := New(&out, "")
	p.visible = true
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range steps {
				p.Grow(1)
				p.Describe("working")
				p.Step()
			}
		})
	}
	wg.Wait()
	if p.done != workers*steps || p.total != workers*steps {
		t.Errorf("%d of %d steps, want %d", p.done, p.total, workers*steps)
	}
	p.Close()
}

func TestNoProgress(t *testing.T) {
	var p *Bar
	p.Describe("nothing")
	p.Grow(1)
	p.Step()
	p.Close()
}
