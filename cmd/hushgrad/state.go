package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// noData is the value of --data for a journal in memory.
const noData = "none"

// state is the flags that say where a command keeps what must survive a restart.
type state struct {
	flags   *flag.FlagSet
	dir     string
	minFree int64
}

// bind binds the flags. role is the last part of the default directory.
func (s *state) bind(f *flag.FlagSet, role string) {
	s.flags = f
	f.StringVar(&s.dir, "data", stateDir(role), "`directory` to keep the state in, which survives restarts and crashes; none keeps it in memory")
	f.Int64Var(&s.minFree, "min-free", 256<<20, "refuse what is to be kept when fewer than this many bytes of the disk would stay free")
}

func (s *state) validate() error {
	switch {
	case s.dir == "":
		return fl.Invalid("--data", "", "must be a directory, or none: there is no home directory to choose one in")
	case s.minFree <= 0:
		return fl.Invalid("--min-free", s.minFree, "must be > 0")
	case s.dir == noData:
		return command.Unused(s.flags, "with --data none, which keeps nothing on a disk", "min-free")
	}
	return nil
}

// open opens the journal and says where it is.
func (s *state) open(logger *slog.Logger) (journal.Journal, error) {
	if s.dir == noData {
		logger.Warn("the state is kept in memory: a restart forgets it", "data", noData)
		return journal.NewMemory(), nil
	}
	kept, err := disk.Open(s.dir, disk.Options{Logger: logger, MinFree: s.minFree})
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	logger.Info("the state is kept on disk", "data", s.dir)
	return kept, nil
}

// beside returns the directory for what no backup of the state should have: given, or the state's with a dash and
// the name behind it, or "" for memory.
func (s *state) beside(given, name string) string {
	switch {
	case given != "":
		return given
	case s.dir == noData:
		return ""
	}
	return s.dir + "-" + name
}

// stateDir returns the directory for the state of a role of the user: the one that systemd made,
// or the usual one of the operating system. It is empty when there is none.
func stateDir(role string) string {
	for _, variable := range []string{"STATE_DIRECTORY", "XDG_STATE_HOME"} {
		if dir := os.Getenv(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "hushgrad", role)
		}
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "hushgrad", role)
		}
	default:
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, ".local", "state", "hushgrad", role)
		}
	}
	return ""
}
