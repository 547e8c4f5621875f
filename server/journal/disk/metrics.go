package disk

import (
	"time"

	bolt "go.etcd.io/bbolt"
)

// Metrics are figures about a journal at one moment.
type Metrics struct {
	// DiskBytes is the size of the journal's file up to its last page in use.
	DiskBytes uint64
	// FreeBytes is what the disk has left for this user.
	FreeBytes uint64
	// Full is true while batches that add are refused.
	Full bool
	// Writes is how often commits were written since Open. Many commits share one write.
	Writes uint64
	// Waited is how long all these writes took together, with the waits for the disk.
	Waited time.Duration
}

// Metrics returns the figures of now. Cost: microseconds, and a question to the file system.
func (j *Journal) Metrics() (Metrics, error) {
	if err := j.usable(); err != nil {
		return Metrics{}, err
	}
	free, err := j.room.free(j.dir)
	if err != nil {
		return Metrics{}, err
	}
	out := Metrics{FreeBytes: free, Full: j.room.isFull()}
	err = j.file.View(func(tx *bolt.Tx) error {
		out.DiskBytes = uint64(tx.Size())
		return nil
	})
	j.commits.mu.Lock()
	defer j.commits.mu.Unlock()
	out.Writes, out.Waited = j.commits.writes, j.commits.waited
	return out, err
}
