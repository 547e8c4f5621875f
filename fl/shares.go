package fl

import (
	"encoding"
	"math/rand/v2"
)

// ShareSide says which of two servers a share is for.
type ShareSide uint8

const (
	// FirstServer gets the short shares.
	FirstServer ShareSide = 1
	// SecondServer gets the others.
	SecondServer ShareSide = 2
)

// MaxShareIDBytes is the largest length of the id of a share.
const MaxShareIDBytes = 64

// SharedMechanism is implemented by mechanisms whose guarantee has trust TwoServers. A
// client sends one share to each of two servers, and neither share alone depends on the
// gradient. Each server adds the shares of the same clients, adds noise, and releases one sum. The two
// sums together give the estimate.
//
// Encode appends both shares, the first one first. A party that reads such a report reads
// the gradient. It is for simulations, and for a client that trusts the one who gets it.
type SharedMechanism interface {
	Mechanism
	// EncodeShares is Encode with the shares apart. It appends the first server's share
	// to first and the second server's to second. On an error both are as they were.
	EncodeShares(first, second []byte, grad []float64, rng *rand.Rand) ([]byte, []byte, error)
	// ShareBytes is the length of every share for a server, in bytes. An unknown side has 0.
	ShareBytes(side ShareSide) int
	// NewShareAggregator returns the empty aggregator of one server. An unknown side is a
	// *ParamError, wrapped.
	NewShareAggregator(side ShareSide) (ShareAggregator, error)
	// Combine decodes what the two servers released. The error wraps ErrUnmatched when they
	// did not add the shares of the same reports.
	Combine(first, second []byte) (*Estimate, error)
}

// VerifyKey is what two servers check proofs with. No client knows it before its shares are sent.
type VerifyKey [32]byte

// ProvedMechanism is implemented by a SharedMechanism whose clients prove to both servers together that a gradient is short, so that
// one client cannot shift the mean by more than a known length. The servers check a report before they count it: the second
// server makes a preparation share of its share, and the first server checks the preparation share beside its own share. The check
// shows neither server more than whether the report is good, as long as the other server is honest. A server that is not honest can add
// what it wants.
type ProvedMechanism interface {
	SharedMechanism
	// Sway is the largest L2 norm of a gradient that has a proof, above Round.Scale, to which honest clients clip.
	Swayer
	// PrepShareBytes is the length of every preparation share.
	PrepShareBytes() int
	// AppendPrepShare appends the second server's preparation share of its share. The error wraps ErrBadReport.
	AppendPrepShare(dst []byte, key *VerifyKey, share []byte) ([]byte, error)
	// CheckShare checks the first server's share with the preparation share, under the same key. The error wraps ErrBadReport
	// when the proof does not hold.
	CheckShare(key *VerifyKey, share, prepared []byte) error
}

// Swayer is implemented by mechanisms that bound what clients who lie can do.
type Swayer interface {
	// Sway is the most by which one report, whatever its bytes, moves the sum of a round's estimates of single reports at one
	// coordinate, in units of the gradient: a share f of clients that lie moves the mean there by at most f·Sway, beside what their own gradients
	// had there. An honest client's clipped gradient has at most Round.Scale there. Where Sway depends on the round's public
	// randomness, it holds but for one in 10^6 rounds.
	Sway() float64
}

// OwnNoised is implemented by a SharedMechanism whose clients may add noise of their own, beside the servers' noise.
type OwnNoised interface {
	SharedMechanism
	// OwnGuarantee is what the client's own noise promises, with trust Local: against both servers together, too. It is false in a
	// round whose clients add none.
	OwnGuarantee() (Guarantee, bool)
}

// HonestNoised is implemented by a SharedMechanism whose clients may add a part of the noise, so that the servers add less. The servers'
// noise alone then keeps the mechanism's Guarantee, whatever clients do.
type HonestNoised interface {
	SharedMechanism
	// HonestGuarantee is what holds against either server, in the place of Guarantee, in every round in which at least the given number of
	// counted reports are of honest clients, the protected client's among them. An honest client runs the mechanism and tells nobody its
	// noise. It is false in a round whose clients add no part.
	HonestGuarantee() (g Guarantee, reports int, ok bool)
}

// ShareAggregator sums the shares that one server holds. It is not safe for concurrent use:
// give every goroutine its own and Merge them.
type ShareAggregator interface {
	// Add counts the share of one report. id is the same 1 to MaxShareIDBytes bytes at both
	// servers, for example the SHA-256 of a sealed share. The caller adds every id once, and
	// only ids that both servers hold. Add returns an error wrapping ErrBadReport, and changes
	// nothing, when the bytes are not a share for this server. It keeps neither slice.
	Add(id, share []byte) error
	// Merge adds what other counted; other stays as it is. An aggregator of another round or
	// server is an error, which changes nothing.
	Merge(other ShareAggregator) error
	// Release returns what this server shows to the other one: the sum of the shares with this server's noise, their
	// number and a digest of the set of their ids. The noise is drawn from rng; nil stands for NewRand. Release returns the errors of
	// Round.CheckReports for too few reports. A server releases once in a round: two releases
	// have less noise than one, or their difference belongs to a few clients. The caller keeps
	// the first release, durably, before it leaves.
	Release(rng *rand.Rand) ([]byte, error)
	// The binary form is a snapshot for this server alone. It may hold a single share, and
	// with the other server's it then reveals a gradient. Otherwise it is as Aggregator's.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}
