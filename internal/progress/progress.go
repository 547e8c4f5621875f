// Package progress shows how far a long computation is: a bar on a terminal, and lines anywhere else. Use
// it for anything that may take more than two seconds. Start with [New].
package progress

import (
	"cmp"
	"fmt"
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

	now           func() time.Time
	began, spoken time.Time // of the bar, and when a line was last written
	before        int       // steps done before this bar
}

// between is the least time between two lines where there is no terminal, and before the first one.
const between = 10 * time.Second

// New returns a Bar that shows itself on w if w is a terminal. On a file or a pipe it writes a line
// every ten seconds instead. what says what is being done.
func New(w io.Writer, what string) *Bar {
	file, ok := w.(*os.File)
	return &Bar{w: w, visible: ok && term.IsTerminal(int(file.Fd())), description: what, now: time.Now}
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
	p.began, p.before = p.now(), p.done
	p.spoken = p.began
	// A bar that was full once stays full, so that later steps need a new one.
	p.bar = progressbar.NewOptions(p.total-p.done,
		progressbar.OptionSetWriter(p.w),
		progressbar.OptionSetVisibility(p.visible),
		progressbar.OptionSetDescription(p.description),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(12), // of 80 columns: a description, counts and times have the rest
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
		return
	}
	if now := p.now(); !p.visible && now.Sub(p.spoken) >= between {
		p.spoken = now
		p.say(now.Sub(p.began))
	}
}

// say writes a line after the time that this bar took.
func (p *Bar) say(taken time.Duration) {
	left := time.Duration(float64(taken) * float64(p.total-p.done) / float64(p.done-p.before))
	fmt.Fprintf(p.w, "%s: %d of %d, about %s left\n", cmp.Or(p.description, "working"), p.done-p.before, p.total-p.before, left.Round(time.Second))
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
