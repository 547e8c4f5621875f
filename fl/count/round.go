package count

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/internal/snapshot"
)

// Round is a round whose reports are counted. It is immutable.
type Round struct {
	fl.Round
	digest [32]byte
}

// NewRound returns r with its digest. The error is fl.Round.Digest's.
func NewRound(r fl.Round) (*Round, error) {
	digest, err := r.Digest()
	return &Round{Round: r, digest: digest}, err
}

// Wrap puts the mechanism's name and what it was doing before an error.
func (r *Round) Wrap(what string, err error) error {
	return fmt.Errorf("%s: %s: %w", r.Mechanism, what, err)
}

// CheckRoom returns a *fl.ParamError when an aggregator that has counted some reports
// cannot count more of them.
func (r *Round) CheckRoom(counted, more int64) error {
	if more > fl.MaxReports-counted {
		return fl.Invalid("reports", counted+more, "must be at most %d in one aggregator", fl.MaxReports)
	}
	return nil
}

// CheckSame returns a *fl.ParamError when other is nil or another round, which cannot
// be merged with r.
func (r *Round) CheckSame(other *Round) error {
	if other == nil || other.digest != r.digest {
		return fl.Invalid("aggregator", "one of another round", "must come from the same round")
	}
	return nil
}

// Snapshot returns the snapshot with the given payload. Equal payloads of one round give
// equal bytes.
func (r *Round) Snapshot(payload []byte) ([]byte, error) {
	data, err := snapshot.Encode(r.digest, payload)
	if err != nil {
		return nil, r.Wrap("write snapshot", err)
	}
	return data, nil
}

// Payload returns the payload of a snapshot of this round. It refuses damaged data, snapshots
// of other rounds and payloads of more than maxBytes, before it allocates them.
func (r *Round) Payload(data []byte, maxBytes int) (*Payload, error) {
	rest, err := snapshot.Decode(r.digest, maxBytes, data)
	if err != nil {
		return nil, r.badSnapshot(err)
	}
	return &Payload{rest: rest}, nil
}

// Finish returns what was wrong with a payload: the first error that reading it met, or that
// something is left. It is nil for a payload that was read to its end.
func (r *Round) Finish(p *Payload) error {
	if p.err == nil && len(p.rest) > 0 {
		p.Refuse("payload", fmt.Sprintf("%d bytes more", len(p.rest)), "must end after number %d", p.read)
	}
	if p.err != nil {
		return r.badSnapshot(p.err)
	}
	return nil
}

func (r *Round) badSnapshot(err error) error { return r.Wrap("read snapshot", err) }

// BadReport returns the error for bytes that are not a report: it wraps fl.ErrBadReport and
// the *fl.ParamError of the arguments.
func BadReport(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("%w: %w", fl.ErrBadReport, fl.Invalid(param, got, rule, args...))
}
