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
	first, spoken time.Time // when the bar's first step was done, and when a line was last written
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
	p.spoken, p.before = p.now(), p.done
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
	now := p.now()
	if p.done == p.before+1 {
		p.first = now
	}
	if !p.visible && now.Sub(p.spoken) >= between {
		p.spoken = now
		p.say(now.Sub(p.first))
	}
}

// say writes a line. What came before the first step, such as starting processes, says nothing of the others: taken is the time since then.
func (p *Bar) say(taken time.Duration) {
	done, left := p.done-p.before, ""
	if done > 1 {
		each := float64(taken) / float64(done-1)
		left = fmt.Sprintf(", about %s left", time.Duration(each*float64(p.total-p.done)).Round(time.Second))
	}
	fmt.Fprintf(p.w, "%s: %d of %d%s\n", cmp.Or(p.description, "working"), done, p.total-p.before, left)
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
