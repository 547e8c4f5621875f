package abi

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/hushgrad/hushgrad/fl"
)

// OpenMemory maps the memory behind a file descriptor for reading, see Memory. It takes the
// descriptor over. The error is a *fl.ParamError for memory that is above MaxPayload, or that
// could shrink while it is read.
func OpenMemory(descriptor int) (*Memory, error) {
	defer unix.Close(descriptor)
	refuse := func(rule string, args ...any) (*Memory, error) {
		return nil, fl.Invalid("memory", fmt.Sprintf("file descriptor %d", descriptor), rule, args...)
	}
	if seals, err := unix.FcntlInt(uintptr(descriptor), unix.F_GET_SEALS, 0); err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return refuse("must be of memfd_create, sealed against shrinking")
	}
	var stat unix.Stat_t
	if err := unix.Fstat(descriptor, &stat); err != nil {
		return nil, fmt.Errorf("abi: memory: %w", err)
	}
	if stat.Size < 1 || stat.Size > MaxPayload {
		return refuse("must have 1 to %d bytes", MaxPayload)
	}
	mapped, err := unix.Mmap(descriptor, 0, int(stat.Size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("abi: memory: %w", err)
	}
	return &Memory{mapped}, nil
}
