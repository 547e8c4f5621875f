package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Log is where a server writes down for outsiders what it did: a Merkle tree of its rounds, their keys, its
// releases and models, in files that can be served from anywhere. No round is shown before it is there. The
// zero value is no log.
type Log struct {
	// Dir is the folder of the files. It must never be older than the journal: a log from a backup
	// contradicts what was shown before, and is refused. The journal may be older than the log.
	Dir string
	// Key is the log's private key, as hushgrad log key writes it.
	Key string
	// Witnesses are the public keys of those who sign the log's checkpoints, too. Default: nobody.
	Witnesses []string
	// Gateways are key configurations of gateways that clients reach through relays, as hushgrad relay key prints them: the shuffler's and the
	// issuer's. They are in the log from the server's start on, and so are the configurations of Config.OHTTPKeys.
	Gateways []string
}

// logbook is a server's log. The journal has the newest checkpoint, too: so a start notices a folder that has
// forgotten entries.
type logbook struct {
	*translog.Log
	journal *keeper.Prober
}

// append adds entries to the log. It may be called again with the same ones.
func (l *logbook) append(entries ...translog.Entry) error {
	before := l.Size()
	if err := l.Append(entries...); err != nil || l.Size() == before {
		return err
	}
	var b journal.Batch
	b.Put(loggedKey, l.Signed())
	return l.journal.Commit(&b)
}

// open returns the log, nil for none.
func (l Log) open(kept *keeper.Prober) (*logbook, error) {
	if l.Dir == "" {
		if l.Key != "" || len(l.Witnesses)+len(l.Gateways) > 0 {
			return nil, fl.Invalid("Log.Dir", l.Dir, "is required with a key, witnesses or gateways")
		}
		return nil, nil
	}
	log, err := translog.Open(l.Dir, l.Key, l.Witnesses)
	if err != nil {
		return nil, err
	}
	signed, err := kept.Get(loggedKey)
	if err == nil {
		err = log.Remembers(signed)
	} else if errors.Is(err, journal.ErrNotFound) {
		err = nil
	}
	return &logbook{log, kept}, err
}

// logGateways writes to the log the key configurations of gateways.
func (s *Server) logGateways() error {
	own, err := ohttp.ParseKeys("OHTTPKeys", s.cfg.OHTTPKeys)
	if err != nil {
		return err
	}
	now := time.Now()
	var entries []translog.Entry
	for _, key := range own {
		entries = append(entries, translog.GatewayEntry(key.Config().Bytes(), now))
	}
	for _, written := range s.cfg.Log.Gateways {
		config, err := ohttp.ParseConfig("Log.Gateways", written)
		if err != nil {
			return err
		}
		entries = append(entries, translog.GatewayEntry(config.Bytes(), now))
	}
	return s.log.append(entries...)
}

// announce writes an open round to the log, before anybody is shown it.
func (r *round) announce() error {
	if r.log == nil {
		return nil
	}
	entries, err := translog.RoundEntries(r.description, r.mechanism.Guarantee(), r.opened)
	if err != nil {
		return err
	}
	return r.log.append(entries...)
}

// released returns an error when the log has an estimate of the round. A round that is open then came from a
// backup of the journal, with some of the reports that the estimate counts.
func (r *round) released() error {
	if r.log == nil || !r.log.HasRelease(r.description.ID) {
		return nil
	}
	return because(errReleased, "round_id", r.description.ID, "must be released once")
}

// putRelease adds to a batch what the log will say about an estimate.
func (r *round) putRelease(b *journal.Batch, e *fl.Estimate, at time.Time) error {
	if r.log == nil || e == nil {
		return nil
	}
	entry, err := translog.ReleaseEntry(r.description, e, at)
	if err != nil {
		return err
	}
	data, err := entry.Marshal()
	b.Put(r.key("release"), data)
	return err
}

// logRelease writes to the log what putRelease has put into the journal, if it has. It may come again.
func (r *round) logRelease() error {
	if r.log == nil {
		return nil
	}
	data, err := r.journal.Get(r.key("release"))
	if errors.Is(err, journal.ErrNotFound) {
		return nil // no estimate, or the round ended before there was a log
	}
	if err != nil {
		return err
	}
	entry, err := translog.ParseEntry(data)
	if err != nil {
		return err
	}
	return r.log.append(entry)
}

// newestLogged returns the largest version of a model in the log, 0 for none. A journal from a backup may have
// an older one.
func (s *Server) newestLogged() uint64 {
	if s.log == nil {
		return 0
	}
	return s.log.NewestModel()
}

// logModel writes the current model to the log.
func (s *Server) logModel(h *service.ModelHeader, at time.Time) error {
	if s.log == nil {
		return nil
	}
	return s.log.append(translog.Entry{
		Kind: translog.Model, Time: at, SHA256: translog.Digest(h.GetSha256()), Version: h.GetVersion(), Bytes: h.GetSize(),
	})
}

// recoverLog writes to the log what the journal has and a killed server has not logged. Nobody has been
// shown anything yet.
func (s *Server) recoverLog() error {
	if s.log == nil {
		return nil
	}
	for _, r := range s.rounds.all() {
		err := r.logRelease()
		if err == nil && !r.settled() {
			err = r.announce()
		}
		if err != nil {
			return unlogged(err)
		}
	}
	if err := s.logGateways(); err != nil {
		return err
	}
	if h, err := s.model.Header(); err == nil {
		return unlogged(s.logModel(h, time.Now()))
	}
	return nil
}

// unlogged says what to do about a journal that contradicts the log.
func unlogged(err error) error {
	if errors.Is(err, translog.ErrContradiction) {
		return fmt.Errorf("the server has run without its log, or with another one: begin a log in a new folder with a new key: %w", err)
	}
	return err
}

// insist calls write until it succeeds, and returns false when the server stops before.
func (t *tasks) insist(write func() error, failed func(error)) bool {
	for {
		err := write()
		if err == nil {
			return true
		}
		failed(err)
		select {
		case <-t.stopping:
			return false
		case <-time.After(time.Second):
		}
	}
}
