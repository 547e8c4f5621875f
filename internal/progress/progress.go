// Package progress shows on a terminal how far a long computation is. Use it for
// anything that may take more than two seconds. Start with [New].
package progress

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bar shows how far a run is and when it will be done. It is safe for
// concurrent use. A nil *Bar does nothing.
type Bar struct {
	mu          sync.Mutex
	w           io.Writer
	visible     bool
	description string
	total, done int
	bar         *progressbar.ProgressBar // nil until there is something to count, and again when all is counted
}

// New returns a Bar that shows itself on w if w is a terminal, and
// nowhere otherwise.
func New(w io.Writer) *Bar {
	file, ok := w.(*os.File)
	return newBar(w, ok && term.IsTerminal(int(file.Fd())))
}

func newBar(w io.Writer, visible bool) *Bar {
	return &Bar{w: w, visible: visible}
}

// Describe says what is being done.
func (p *Bar) Describe(what string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.description = what
	if p.bar != nil {
		p.bar.Describe(what)
	}
}

// Grow announces n more steps. n <= 0 announces none.
func (p *Bar) Grow(n int) {
	if p == nil || n <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += n
	if p.bar != nil {
		p.bar.AddMax(n)
		return
	}
	// A bar that was full once stays full, so that later steps need a new one.
	p.bar = progressbar.NewOptions(p.total-p.done,
		progressbar.OptionSetWriter(p.w),
		progressbar.OptionSetVisibility(p.visible),
		progressbar.OptionSetDescription(p.description),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}

// Step counts one step. Steps that nobody announced are not shown.
func (p *Bar) Step() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done >= p.total {
		return
	}
	p.done++
	_ = p.bar.Add(1) // the bar is decoration: it cannot fail the run
	if p.done == p.total {
		p.bar = nil
	}
}

// Close erases the bar, to make room for results. What is announced later makes a
// new one.
func (p *Bar) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		if p.visible {
			_ = p.bar.Clear()
		}
		_ = p.bar.Exit()
	}
	p.bar, p.done = nil, p.total
}
