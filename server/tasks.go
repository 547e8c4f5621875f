package server

import "sync"

// tasks are what the server does outside of calls. After stop none is at work and none
// begins.
type tasks struct {
	stopping chan struct{} // closed by refuse

	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

// start runs a task in the background, unless the server stops.
func (t *tasks) start(task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	t.running.Go(task)
	return true
}

// refuse lets no new task begin, and ends the calls that wait for one.
func (t *tasks) refuse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		t.stopped = true
		close(t.stopping)
	}
}

// stop is refuse, and waits for the tasks at work.
func (t *tasks) stop() {
	t.refuse()
	t.running.Wait()
}
