package translog

import (
	"errors"

	"github.com/hushgrad/hushgrad/fl"
)

// ErrContradiction is wrapped by errors about entries that cannot be true together.
var ErrContradiction = errors.New("the log contradicts itself")

// Story is what the entries of a log say together. The zero value has none. It takes about 200 bytes for an
// entry.
type Story struct {
	rounds, releases map[string]Digest // by the round's id
	models           map[uint64]Digest // by the version
	newest           uint64            // version of a model
	digests          map[Digest]bool   // of rounds and keys
}

// Check returns an error that wraps ErrContradiction when an entry contradicts an earlier one.
func (s *Story) Check(e Entry) error {
	var contradicts bool
	switch e.Kind {
	case Round:
		contradicts = differs(s.rounds, e.Round, e.SHA256)
	case Release:
		contradicts = differs(s.releases, e.Round, e.SHA256) || differs(s.rounds, e.Round, e.Description)
	case Model:
		contradicts = differs(s.models, e.Version, e.SHA256)
	}
	if !contradicts {
		return nil
	}
	data, err := e.Marshal()
	return errors.Join(ErrContradiction, err, fl.Invalid("entry", string(data), "must agree with the earlier entries about the same round, release or version of the model"))
}

// Add takes the next entry. The error is Check's, and the entry is taken all the same.
func (s *Story) Add(e Entry) error {
	if s.rounds == nil {
		s.rounds, s.releases, s.models, s.digests = map[string]Digest{}, map[string]Digest{}, map[uint64]Digest{}, map[Digest]bool{}
	}
	err := s.Check(e)
	switch e.Kind {
	case Round:
		s.rounds[e.Round], s.digests[e.SHA256] = e.SHA256, true
	case Key:
		s.digests[e.SHA256] = true
	case Release:
		s.releases[e.Round] = e.SHA256
	case Model:
		s.models[e.Version], s.newest = e.SHA256, max(s.newest, e.Version)
	}
	return err
}

// differs reports whether another digest was noted.
func differs[K comparable](noted map[K]Digest, key K, digest Digest) bool {
	before, there := noted[key]
	return there && before != digest
}

// Has reports whether a round or a key with this digest is in the log.
func (s *Story) Has(digest Digest) bool { return s.digests[digest] }
