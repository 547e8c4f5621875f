package main

import (
	"errors"
	"log/slog"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// outsideBytes is about what a process takes beside the runtime's heap: its code, and in a build with cgo
// the journal's tables and cache.
const outsideBytes = 160 << 20

// limitMemory makes the runtime collect garbage before the process reaches the memory limit of its cgroup,
// which a container or systemd's MemoryMax sets. GOMEMLIMIT in the environment goes before.
func limitMemory(logger *slog.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(1), memlimit.WithProvider(func() (uint64, error) {
		limit, err := memlimit.FromCgroup()
		if errors.Is(err, memlimit.ErrNoCgroup) || errors.Is(err, memlimit.ErrCgroupsNotSupported) {
			err = memlimit.ErrNoLimit
		}
		return heapLimit(limit), err
	}))
	if err != nil {
		logger.Warn("the memory limit of the cgroup is not known: GOMEMLIMIT sets one", "error", err)
		return
	}
	logger.Debug("memory limit of the runtime", "bytes", limit)
}

// heapLimit is what a process with a memory limit leaves to the heap, at least half.
func heapLimit(limit uint64) uint64 {
	return max(limit/2, limit-max(limit/10, min(outsideBytes, limit)))
}
