package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/seal"
)

// shufflerFlags are the flags of hushgrad serve for rounds with a shuffler.
type shufflerFlags struct {
	listen   string
	releases string
	callers  callers
	seals    sealFlags
}

func (s *shufflerFlags) bind(f *flag.FlagSet) {
	f.StringVar(&s.listen, "shuffler-listen", "", "`address` for the shuffler: a loopback address, or --shuffler-ca must be given; empty: there are no rounds with a shuffler")
	f.StringVar(&s.releases, "releases", "", "`directory` that remembers which rounds of two servers have released a sum: no backup should have it; empty: the directory of --data with --releases behind its name")
	s.callers.bind(f, "shuffler")
	s.seals.bind(f, "reports")
	s.seals.bindSuite(f, "of the first key")
}

func (s *shufflerFlags) validate(l listening, kept state) error {
	if s.listen == "" {
		switch {
		case s.seals.dir != "":
			return fl.Invalid("--seal-keys", s.seals.dir, "needs --shuffler-listen")
		case s.releases != "":
			return fl.Invalid("--releases", s.releases, "needs --shuffler-listen")
		case s.seals.suite != seal.X25519:
			return fl.Invalid("--seal-suite", string(s.seals.suite), "needs --shuffler-listen")
		}
		return s.callers.unused()
	}
	if s.releases != "" && kept.dir == noData {
		return fl.Invalid("--releases", s.releases, "needs a directory of --data: without one the rounds are in memory, too")
	}
	if s.seals.dir == "" && kept.dir == noData {
		return fl.Invalid("--seal-keys", "", "is required with --shuffler-listen and --data none")
	}
	return s.callers.validate(l, s.listen)
}

// keys opens the keys and says which one is the newest, or returns nil when there is no shuffler.
// data is the directory of --data, which must be a journal by now.
func (s *shufflerFlags) keys(data string, logger *slog.Logger) (*seal.Keys, error) {
	if s.listen == "" {
		return nil, nil
	}
	return s.seals.open(data, "reports of new rounds with a shuffler are sealed to the active key", logger)
}

// explain adds to the error of a server what flag is missing.
func (s *shufflerFlags) explain(err error) error {
	if s.listen == "" && errors.Is(err, seal.ErrNoKey) {
		return fmt.Errorf("%w: a round with a shuffler is open, which needs --shuffler-listen", err)
	}
	return err
}

// whatHolds says what is private against whoever runs the server.
func (s *shufflerFlags) whatHolds() string {
	const direct = "this server sees which connection a report comes from: against whoever runs it, only the local ε of a round holds"
	if s.listen == "" {
		return direct
	}
	return "in rounds without a shuffler " + direct + ". In rounds with a shuffler it sees the reports, and whose they are if the shuffler works together with it"
}

// sealFlags are the flags about the keys to which clients seal what they send.
type sealFlags struct {
	dir   string
	suite seal.Suite
}

func (s *sealFlags) bind(f *flag.FlagSet, what string) {
	f.StringVar(&s.dir, "seal-keys", "", "`directory` of the keys to which "+what+" are sealed; empty: seal-keys below --data")
}

// bindSuite adds the flag for a key that is made.
func (s *sealFlags) bindSuite(f *flag.FlagSet, of string) {
	s.suite = seal.X25519
	command.OneOf(f, &s.suite, "seal-suite", "", seal.Suites(), "algorithms "+of+": x25519, or mlkem768-x25519, which also resists quantum computers and makes sealed reports 1088 bytes longer")
}

// place returns the directory of the keys.
func (s *sealFlags) place(data string) string {
	return cmp.Or(s.dir, filepath.Join(data, "seal-keys"))
}

// open opens the keys, makes the first one, and logs which one is the newest.
func (s *sealFlags) open(data, what string, logger *slog.Logger) (*seal.Keys, error) {
	dir := s.place(data)
	keys, err := seal.OpenKeys(dir, s.suite)
	if err != nil {
		return nil, err
	}
	newest, err := keys.Newest()
	if err != nil {
		return nil, err
	}
	logger.Info(what, "fingerprint", newest.Fingerprint(), "suite", newest.Suite(), "keys", dir)
	return keys, nil
}
