package experiment

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Checkpoint keeps the numbers of a long run's finished parts in a file, so that the
// same command goes on where it was interrupted. It is safe for concurrent use. A
// nil *Checkpoint keeps nothing.
type Checkpoint struct {
	mu   sync.Mutex
	file *os.File
	done map[string][]float64

	earlier float64 // seconds that the interrupted runs took, up to the last part they finished
	opened  time.Time

	of     *Checkpoint // what this is a view of; nil: none
	prefix string
}

// part is one line of the file. The first line has the command as its key.
type part struct {
	Key    string    `json:"key"`
	Values []float64 `json:"values,omitempty"`
	// Seconds that the run had taken when the part was done, with the seconds of the runs before it.
	Seconds float64 `json:"seconds,omitempty"`
}

// OpenCheckpoint opens the checkpoint of a command. A file of another command, or one
// that cannot be read to its end, starts anew from what could be read.
func OpenCheckpoint(path, command string) (*Checkpoint, error) {
	c := &Checkpoint{done: map[string][]float64{}, opened: time.Now()}
	old, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("experiment: checkpoint: %w", err)
	}
	if err == nil {
		c.load(old, command)
		_ = old.Close()
	}
	if c.file, err = os.Create(path); err != nil {
		return nil, fmt.Errorf("experiment: checkpoint: %w", err)
	}
	if err := c.append(part{Key: command}); err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	for key, values := range c.done {
		if err := c.append(part{key, values, c.earlier}); err != nil {
			return nil, errors.Join(err, c.file.Close())
		}
	}
	return c, nil
}

// load reads the parts of an earlier run of the same command.
func (c *Checkpoint) load(old *os.File, command string) {
	lines := bufio.NewScanner(old)
	lines.Buffer(nil, 1<<24)
	for first := true; lines.Scan(); first = false {
		var p part
		if json.Unmarshal(lines.Bytes(), &p) != nil || first && p.Key != command {
			return // a line cut short by the interruption, or another command
		}
		if !first {
			c.done[p.Key], c.earlier = p.Values, max(c.earlier, p.Seconds)
		}
	}
}

func (c *Checkpoint) append(p part) error {
	text, err := json.Marshal(p)
	if err == nil {
		_, err = c.file.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("experiment: checkpoint: %w", err)
	}
	return nil
}

// Under returns a view of the checkpoint whose keys have a prefix. Only the whole is closed.
func (c *Checkpoint) Under(prefix string) *Checkpoint {
	if c == nil {
		return nil
	}
	return &Checkpoint{of: c, prefix: prefix}
}

// Do returns the values of a part: the values of an earlier run, or the values that
// compute returns, which must be finite.
func (c *Checkpoint) Do(key string, compute func() ([]float64, error)) ([]float64, error) {
	if c == nil {
		return compute()
	}
	if c.of != nil {
		return c.of.Do(c.prefix+key, compute)
	}
	c.mu.Lock()
	values, ok := c.done[key]
	c.mu.Unlock()
	if ok {
		return values, nil
	}
	values, err := compute()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[key] = values
	return values, c.append(part{key, values, c.Earlier() + time.Since(c.opened).Seconds()})
}

// Earlier returns the seconds that interrupted runs took for the parts that they finished.
func (c *Checkpoint) Earlier() float64 {
	if c == nil {
		return 0
	}
	return c.earlier
}

// Close closes the file; with finished it also removes it.
func (c *Checkpoint) Close(finished bool) error {
	if c == nil {
		return nil
	}
	err := c.file.Close()
	if finished {
		err = errors.Join(err, os.Remove(c.file.Name()))
	}
	return err
}
