package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/boltfile"
	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/npy"
)

var (
	errStateBusy    = errors.New("another hushgrad run has it")
	errStateForeign = errors.New("not the state of hushgrad run, or another user's")
	errStateDamaged = errors.New("damaged: what hushgrad run had done cannot be read")
)

const (
	stateVersion = 1
	// stateWait is how long a run waits for another one that is about to end.
	stateWait = time.Second
)

// The keys of a state file, in one bucket: the head as JSON, and vectors as .npy.
var (
	stateBucket = []byte("run")
	headKey     = []byte("head")
	paramsKey   = []byte("params")
	momentKey   = []byte("moment")
	sumKey      = []byte("sum")
)

// runHead is how far a run has come. One transaction writes it with the vectors, so that an estimate is in all of
// them or in none.
type runHead struct {
	Version int               `json:"version"`
	Plan    map[string]string `json:"plan"` // flags by name, and the SHA-256 of the first model
	Seed    []byte            `json:"seed"` // of the public seeds of all rounds
	Dim     int               `json:"dim"`
	Held    int               `json:"held"`   // rounds that have ended
	Failed  int               `json:"failed"` // of them, those without an estimate
	InARow  int               `json:"in_a_row"`
	// Opened says that the server has said that the round after those is open.
	Opened bool `json:"opened"`
	// Published is the SHA-256 of the newest model on the server, and Model its version. nil: none yet.
	Published []byte  `json:"published"`
	Model     uint64  `json:"model"`
	Steps     int     `json:"steps"`
	Weight    float64 `json:"weight"`
}

// validate returns an error for a head that no run has written.
func (h runHead) validate() error {
	switch {
	case h.Version != stateVersion:
		return fl.Invalid("version", h.Version, "must be %d", stateVersion)
	case len(h.Seed) != sha256.Size:
		return fl.Invalid("seed", fmt.Sprintf("%d bytes", len(h.Seed)), "must have %d", sha256.Size)
	case h.Dim < 1 || h.Dim > fl.MaxDim:
		return fl.Invalid("dim", h.Dim, "must be in [1, %d]", fl.MaxDim)
	case h.Held < 0 || h.Held > maxRounds || h.Failed < 0 || h.Failed > h.Held || h.InARow < 0 || h.InARow > h.Failed:
		return fl.Invalid("rounds", fmt.Sprintf("%d, %d without an estimate and %d in a row", h.Held, h.Failed, h.InARow), "must be in [0, %d], and the latter some of the former", maxRounds)
	case h.Published != nil && len(h.Published) != sha256.Size:
		return fl.Invalid("published", fmt.Sprintf("%d bytes", len(h.Published)), "must have %d", sha256.Size)
	}
	return nil
}

// publicSeed is the public seed of a round: nobody knows it before the round is open, and the run can
// tell its own rounds by it.
func (h runHead) publicSeed(id string) (seed [32]byte) {
	mac := hmac.New(sha256.New, h.Seed)
	mac.Write([]byte(id))
	return [32]byte(mac.Sum(nil))
}

// runState is the file beside a plan that says how far its run has come. It is locked while it is open.
type runState struct {
	runHead
	descent *descent.Descent
	place   string
	file    *boltfile.File
}

// openState opens the state of a plan, or begins one with the first model.
func openState(path string, given map[string]string, c descent.Config, first []float64) (*runState, error) {
	begun, err := descent.New(c, first)
	if err != nil {
		return nil, err
	}
	s := &runState{runHead: runHead{Version: stateVersion, Plan: given, Seed: make([]byte, sha256.Size), Dim: len(first)}, descent: begun, place: path}
	_, _ = rand.Read(s.Seed) // never fails
	kind := boltfile.Kind{
		Locked: errStateBusy, Foreign: errStateForeign, Damaged: errStateDamaged,
		Initialise: func(tx *bolt.Tx) error {
			if _, err := tx.CreateBucketIfNotExists(stateBucket); err != nil {
				return err
			}
			return s.put(tx, true)
		},
		Check:   func(tx *bolt.Tx) error { return new(runState).read(tx, c) },
		Options: bolt.Options{NoStatistics: true},
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := kind.Create(path, stateWait); err != nil {
			return nil, fmt.Errorf("state %s: %w", path, err)
		}
	}
	if s.file, err = kind.Open(path, stateWait); err != nil {
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	if err = s.file.View(func(tx *bolt.Tx) error { return s.read(tx, c) }); err == nil {
		err = s.same(given)
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// same returns an error unless the state is about the plan.
func (s *runState) same(given map[string]string) error {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if s.Plan[name] != given[name] {
			changed = append(changed, fmt.Sprintf("%s = %s (before: %s)", name, given[name], s.Plan[name]))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return fl.Invalid("plan", strings.Join(changed, "; "), "must stay the same while its run goes on: write what was there before, or begin another run: rm %s and a new name in the plan", s.place)
}

// read reads everything.
func (s *runState) read(tx *bolt.Tx, c descent.Config) error {
	b := tx.Bucket(stateBucket)
	if b == nil {
		return errStateForeign
	}
	err := s.parse(b.Get(headKey), b.Get(paramsKey), b.Get(momentKey), b.Get(sumKey), c)
	if err != nil {
		return fmt.Errorf("%w: %w", errStateDamaged, err)
	}
	return nil
}

// parse reads what a state file holds.
func (s *runState) parse(head, params, moment, sum []byte, c descent.Config) (err error) {
	s.runHead = runHead{}
	if err := json.Unmarshal(head, &s.runHead); err != nil {
		return fmt.Errorf("head: %w", err)
	}
	if err := s.validate(); err != nil {
		return err
	}
	kept := descent.State{Steps: s.Steps, Weight: s.Weight}
	for _, v := range []struct {
		name string
		text []byte
		to   *[]float64
	}{{"params", params, &kept.Params}, {"moment", moment, &kept.First}, {"sum", sum, &kept.Sum}} {
		if len(v.text) < 8*s.Dim { // before anything of that size is made
			return fl.Invalid(v.name, fmt.Sprintf("%d bytes", len(v.text)), "must hold %d numbers", s.Dim)
		}
		if *v.to, err = npy.Read(bytes.NewReader(v.text), s.Dim); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	s.descent, err = descent.Resume(c, kept)
	return err
}

// put writes the head, and the vectors if they have moved.
func (s *runState) put(tx *bolt.Tx, moved bool) error {
	b := tx.Bucket(stateBucket)
	now := s.descent.State()
	s.Steps, s.Weight = now.Steps, now.Weight
	head, err := json.Marshal(s.runHead)
	if err != nil {
		return err
	}
	if err := b.Put(headKey, head); err != nil || !moved {
		return err
	}
	for _, v := range []struct {
		key    []byte
		values []float64
	}{{paramsKey, now.Params}, {momentKey, now.First}, {sumKey, now.Sum}} {
		var text bytes.Buffer
		if err := errors.Join(npy.Write(&text, v.values), b.Put(v.key, text.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

// save makes what has changed durable.
func (s *runState) save(moved bool) error {
	if err := s.file.Update(func(tx *bolt.Tx) error { return s.put(tx, moved) }); err != nil {
		return fmt.Errorf("state %s: %w", s.place, err)
	}
	return nil
}

// Close lets go of the file.
func (s *runState) Close() error { return s.file.Close() }
