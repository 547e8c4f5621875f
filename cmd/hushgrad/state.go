package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// noData is the value of --data for a journal in memory.
const noData = "none"

// ownerName is the file in a directory of state that names the command whose state it is.
const ownerName = "owner"

// prefixes are where the commands that keep state have it in a journal.
var prefixes = map[string]string{"serve": "server/", "shuffle": "shuffler/", "issue": "issuer/"}

// state is the flags that say where a command keeps what must survive a restart.
type state struct {
	flags   *flag.FlagSet
	role    string // the command
	dir     string
	minFree int64
}

// bind binds the flags. role is the command, and the last part of the default directory.
func (s *state) bind(f *flag.FlagSet, role string) {
	s.flags, s.role = f, role
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
	if err := s.own(kept, logger); err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	logger.Info("the state is kept on disk", "data", s.dir)
	return kept, nil
}

// own makes the directory of a journal the state of the role, or refuses it as another role's.
func (s *state) own(kept journal.Journal, logger *slog.Logger) error {
	owner, err := roleOf(s.dir)
	if err != nil || owner == s.role {
		return err
	}
	if owner == "" {
		owner, err = writerOf(kept, s.role)
	}
	if err = cmp.Or(err, notOf(s.dir, owner, s.role)); err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(s.dir, ownerName), []byte("hushgrad "+s.role+"\n"), 0o600); err != nil { // a full disk keeps nobody from a state
		logger.Warn("the state does not name its owner", "data", s.dir, "error", err)
	}
	return nil
}

// roleOf returns the command that a directory of state names, or "": a journal that was restored from a backup has no such file.
func roleOf(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, ownerName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("--data: %w", err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(text)), "hushgrad "), nil
}

// writerOf returns the role if it has written to a journal, or else another one that has, or "".
func writerOf(kept journal.Journal, role string) (writer string, err error) {
	for of, prefix := range prefixes {
		for _, err := range kept.Scan([]byte(prefix), journal.After([]byte(prefix))) {
			if err != nil {
				return "", fmt.Errorf("--data: %w", err)
			}
			if of == role {
				return role, nil
			}
			writer = of
			break // one pair is enough
		}
	}
	return writer, nil
}

// notOf returns an error if a directory of state has an owner that is not the role.
func notOf(dir, owner, role string) error {
	if owner == role || owner == "" {
		return nil
	}
	return fl.Invalid("--data", dir, "must be hushgrad %s's own, and has the state of hushgrad %s: type --data and another directory", role, owner)
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
