package disk

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Metrics are figures about a journal at one moment.
type Metrics struct {
	// DiskBytes is the size of the engine's files, without the log that is being written, which has
	// at most 32 MiB and one batch, and without the ballast.
	DiskBytes uint64
	// FreeBytes is what the disk has left for this user.
	FreeBytes uint64
	// Full is true while batches that add are refused.
	Full bool
	// Fsyncs are the waits for the log to be on disk, since Open. Many commits share one.
	Fsyncs Histogram
}

// Histogram counts durations. The last bucket has no upper end and is not listed.
type Histogram struct {
	Count   uint64
	Sum     time.Duration
	Buckets []Bucket
}

// Bucket is the number of durations that are at most UpTo.
type Bucket struct {
	UpTo  time.Duration
	Count uint64
}

// Metrics returns the figures of now. Cost: microseconds, and a question to the file system.
func (j *Journal) Metrics() (Metrics, error) {
	if err := j.usable(); err != nil {
		return Metrics{}, err
	}
	usage, err := j.options.fs.GetDiskUsage(j.dir)
	if err != nil {
		return Metrics{}, err
	}
	engine := j.db.Metrics()
	var waits dto.Metric
	if err := engine.LogWriter.FsyncLatency.Write(&waits); err != nil {
		return Metrics{}, err
	}
	out := Metrics{DiskBytes: engine.DiskSpaceUsage(), FreeBytes: usage.AvailBytes, Full: j.room.isFull()}
	out.Fsyncs.Count = waits.Histogram.GetSampleCount()
	out.Fsyncs.Sum = time.Duration(waits.Histogram.GetSampleSum()) // in ns, as the buckets
	for _, b := range waits.Histogram.GetBucket() {
		if !math.IsInf(b.GetUpperBound(), 1) {
			out.Fsyncs.Buckets = append(out.Fsyncs.Buckets, Bucket{time.Duration(math.Round(b.GetUpperBound())), b.GetCumulativeCount()})
		}
	}
	return out, nil
}
