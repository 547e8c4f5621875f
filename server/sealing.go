package server

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/seal"
)

// errOtherShare is why a report does not count whose second share is another one than its client's.
var errOtherShare = fmt.Errorf("%w: the second server's share was changed on its way", seal.ErrSealed)

// sealing is what a round with a shuffler needs to read its reports.
type sealing struct {
	format seal.Format
	opener *seal.Opener
	shared fl.SharedMechanism // nil for a mechanism for one server
	proved fl.ProvedMechanism // nil for a mechanism without proofs
	second []byte             // what the second server released, once the round is complete
}

// chooseKey gives a round with a shuffler the newest key, if it names none.
func chooseKey(r *fl.Round, keys *seal.Keys) error {
	switch {
	case r.Shuffler == "":
		return nil
	case keys == nil:
		return fl.Invalid("shuffler", r.Shuffler, "must be empty: this server has no key to which reports are sealed")
	case len(r.SealKey) > 0:
		return nil // newSealing looks for it
	}
	key, err := keys.Newest()
	if err != nil {
		return err
	}
	r.SealKey = key.Public()
	return nil
}

// sweepTime is the time between two looks for keys that have ended while no round does.
const sweepTime = time.Minute

// sweepKeys removes the keys that have ended and that no open round names. No round is being opened meanwhile. The log says which key
// new rounds have from now on, where it is another one.
func (s *Server) sweepKeys() {
	if s.cfg.Seal == nil || !s.recovered.Load() {
		return
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	removed, err := s.cfg.Seal.Sweep(func(public []byte) bool {
		return slices.ContainsFunc(s.rounds.all(), func(r *round) bool {
			return r.head().state == service.RoundState_ROUND_STATE_OPEN && bytes.Equal(r.description.SealKey, public)
		})
	})
	for _, key := range removed {
		s.cfg.Logger.Info("a key has ended, with the last round that named it, and is removed", "fingerprint", key)
	}
	if err != nil {
		s.cfg.Logger.Warn("keys that have ended are not removed yet", "error", err)
	}
	if key, err := s.cfg.Seal.Newest(); err == nil && key.Fingerprint() != s.newest {
		if s.newest != (seal.Fingerprint{}) { // not at the start, when nothing has changed
			s.cfg.Logger.Info("new rounds have another key, to which reports are sealed", "fingerprint", key.Fingerprint())
		}
		s.newest = key.Fingerprint()
	}
}

// sweepLater calls sweepKeys until ctx ends.
func (s *Server) sweepLater(ctx context.Context) error {
	for s.cfg.Seal != nil {
		s.sweepKeys()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepTime):
		}
	}
	return nil
}

// newSealing returns the sealing of a round with a shuffler. The error names the fingerprint of a key that
// the server does not have.
func newSealing(r fl.Round, m fl.Mechanism, keys *seal.Keys) (*sealing, error) {
	if keys == nil {
		return nil, fmt.Errorf("%w: %w", seal.ErrNoKey, fl.Invalid("seal_key", seal.FingerprintOf(r.SealKey), "must be one of this server, which has none"))
	}
	s := &sealing{}
	var err error
	if s.format, err = seal.FormatOf(r, m); err != nil {
		return nil, err
	}
	key, err := keys.Find(r.SealKey)
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	s.opener = key.NewOpener(digest)
	if shared, ok := m.(fl.SharedMechanism); ok {
		if _, err := shared.NewShareAggregator(fl.FirstServer); err != nil {
			return nil, err
		}
		s.shared = shared
		s.proved, _ = m.(fl.ProvedMechanism)
	}
	return s, nil
}

// mechanism returns the mechanism that counts what is sealed.
func (s *sealing) mechanism(m fl.Mechanism) fl.Mechanism {
	if s.shared == nil {
		return m
	}
	return firstServer{s.shared}
}

// prepBytes is the length of a preparation share: 0 for a mechanism without proofs.
func (s *sealing) prepBytes() int {
	if s.proved == nil {
		return 0
	}
	return s.proved.PrepShareBytes()
}

// open returns the unit in a report that the shuffler has passed on. Its token, if there is one, is not verified yet. The error
// wraps seal.ErrSealed or fl.ErrBadReport.
func (s *sealing) open(r forwardedReport) (unit, error) {
	sealed := r.sealed
	plaintext, err := s.opener.Open(sealed)
	if err != nil {
		return unit{}, err
	}
	report, rest := plaintext[:s.format.Report:s.format.Report], plaintext[s.format.Report:]
	if !hmac.Equal(r.tag, rest[:s.format.Tag]) {
		return unit{}, errOtherShare
	}
	if s.proved != nil {
		if err := s.proved.CheckShare(r.key, report, r.prep); err != nil {
			return unit{}, err
		}
	}
	id := seal.ID(sealed)
	u := unit{key: string(id[:16]), content: [16]byte(id[:16]), packed: report}
	if s.format.Token > 0 {
		u.token = rest[s.format.Tag:]
		u.key = tokenKey(u.token)
	}
	if s.shared != nil {
		u.packed = append(id[:], u.packed...)
	}
	u.reports = [][]byte{u.packed}
	return u, nil
}

// estimate decodes a sum. Of two servers it needs both sums.
func (s *sealing) estimate(sum fl.Aggregator) (*fl.Estimate, error) {
	if s == nil || s.shared == nil {
		return sum.Estimate()
	}
	first, err := sum.(*firstSum).Release(nil)
	if err != nil {
		return nil, err
	}
	return s.shared.Combine(first, s.second)
}

// firstServer is a mechanism for two servers as the first one counts it: a report is the id of a
// sealed share and then the share. Encode is the mechanism's, which makes others.
type firstServer struct{ fl.SharedMechanism }

// idBytes is the length of the id of a sealed share.
const idBytes = sha256.Size

// ReportBytes implements fl.ReportSizer.
func (m firstServer) ReportBytes() int { return idBytes + m.ShareBytes(fl.FirstServer) }

// NewAggregator implements fl.Mechanism.
func (m firstServer) NewAggregator() fl.Aggregator {
	sum, err := m.NewShareAggregator(fl.FirstServer)
	if err != nil {
		panic(err) // newSealing has tried it
	}
	return &firstSum{sum}
}

// firstSum is the sum of the first server's shares as an fl.Aggregator.
type firstSum struct{ fl.ShareAggregator }

// Add implements fl.Aggregator.
func (s *firstSum) Add(report []byte) error {
	if len(report) < idBytes {
		return fmt.Errorf("%w: %w", fl.ErrBadReport, fl.Invalid("report", fmt.Sprintf("%d bytes", len(report)), "must begin with an id of %d", idBytes))
	}
	return s.ShareAggregator.Add(report[:idBytes], report[idBytes:])
}

// Merge implements fl.Aggregator.
func (s *firstSum) Merge(other fl.Aggregator) error {
	o, ok := other.(*firstSum)
	if !ok {
		return fl.Invalid("aggregator", fmt.Sprintf("%T", other), "must be the first server's")
	}
	return s.ShareAggregator.Merge(o.ShareAggregator)
}

// Estimate implements fl.Aggregator. The sum of one server is none.
func (s *firstSum) Estimate() (*fl.Estimate, error) {
	return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid("sums", 1, "must be the sums of two servers"))
}
