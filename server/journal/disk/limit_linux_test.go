package disk_test

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

func init() {
	limitFiles = func(bytes uint64) error {
		signal.Ignore(unix.SIGXFSZ)
		return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes})
	}
}
