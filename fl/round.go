package fl

import (
	"bytes"
	"cmp"
	"crypto/hkdf"
	crand "crypto/rand"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"
)

// Limits of a Round.
const (
	// MaxDim is the largest number of coordinates.
	MaxDim = 1 << 27
	// MaxEpsilon is the largest finite privacy budget of one report. Beyond it
	// the promise is empty and the integer weights of the randomizers overflow.
	MaxEpsilon = 20
	// MaxReports is the largest min_reports and target_reports.
	MaxReports = 1_000_000_000
	// MaxColumns is the largest number of columns that a round asks for.
	MaxColumns = 8
	// MaxIssuerKeyBytes is the largest length of an issuer's public key.
	MaxIssuerKeyBytes = 1024
	// MaxFeaturesBytes is the largest length of a text that names features.
	MaxFeaturesBytes = 128
	// MaxSealKeyBytes is the largest length of a key to which reports are sealed.
	MaxSealKeyBytes = 2048

	maxParams    = 32
	maxTextBytes = 256
)

// nameRule says in words what namePattern is.
const nameRule = "must be a lower-case letter and at most 31 more lower-case letters, digits, underscores or hyphens"

var (
	idPattern   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
	mapPattern  = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9._:-]{1,%d}$`, MaxFeaturesBytes))
	hostPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
)

// Round is the complete public description of one round of aggregation. It is
// a value: mechanisms copy what they need and never change it.
type Round struct {
	// ID names the round: 1 to 64 characters of [A-Za-z0-9._-], unique on a server.
	ID string
	// Mechanism is the registered name, for example "coco".
	Mechanism string
	// Params holds the mechanism's own parameters.
	Params Params
	// Dim is the number of coordinates of a gradient, in [1, MaxDim].
	Dim int
	// Scale is positive and finite, in units of the gradient. What it means depends on
	// what the mechanism encodes:
	//
	//	ternary vectors (coco, collision, signsketch)    τ, the worth of one unit; gradients are clipped to the L1 norm τ·sparsity
	//	key-value pairs (pckv-ue, pckv-grr, pckv-agrr)   the worth of the value 1; values are clipped to ±Scale
	//	rotated vectors (sumdp, privunit), gaussian, …   the L2 norm to which gradients are clipped
	//	laplace                                          the L1 norm to which gradients are clipped
	//	gradients as they are (none)                     nothing
	Scale float64
	// Epsilon is the privacy budget of one report, in (0, MaxEpsilon], or +Inf
	// for a mechanism without privacy.
	Epsilon float64
	// Delta is in [0, 1), and 0 for local mechanisms.
	Delta float64
	// Relation says which pairs of data sets the guarantee calls neighbours.
	Relation Relation
	// MinReports is the number of reports below which no estimate is released,
	// in [1, MaxReports].
	MinReports int
	// TargetReports closes the round when that many reports have come in; 0
	// leaves it open. It is 0 or at least MinReports.
	TargetReports int
	// Deadline closes the round at that time; the zero time leaves it open.
	Deadline time.Time
	// PublicSeed is the round's public randomness, fresh in every round.
	PublicSeed [32]byte
	// Columns names what is estimated beside the mean, without repeats and at most
	// MaxColumns. The mechanism must be able to estimate them; see the Column constants
	// and function Columns.
	Columns []string
	// IssuerKey is the public key of the issuer for this round alone, DER
	// SubjectPublicKeyInfo, at most MaxIssuerKeyBytes: every report then needs a token
	// under it, and a report of a SeededMechanism has the seed that its token assigns. Package server/admit says what a key must be. Empty means no admission:
	// whoever reaches the server may send any number of reports.
	IssuerKey []byte
	// Shuffler is the name of the shuffler: a DNS name in lower case. Clients then send their
	// reports to it, sealed to SealKey. Empty means that they send them to the server, which
	// sees who sent what.
	Shuffler string
	// SealKey is the server's public key to which reports are sealed, at most MaxSealKeyBytes.
	// Package server/seal says what a key must be. There is one exactly if there is a Shuffler.
	SealKey []byte
	// Features names the fixed map from an example to the vector that the model sees, in at most
	// MaxFeaturesBytes of [A-Za-z0-9._:-]: a name, a colon and a digest in hexadecimal, as
	// trainer/features.ID writes it. A client checks what it computes by it. No mechanism looks
	// at it. Empty means that the round does not say.
	Features string
	// OuterIssuerKey is a second public key of the issuer for this round alone, of the same form as
	// IssuerKey. The shuffler takes a sealed report only with a token under it, so that it counts
	// admitted clients. There is one exactly in a round with a Shuffler and an IssuerKey:
	// package server/seal demands it, Validate checks that it is not there otherwise.
	OuterIssuerKey []byte
	// ShareKey is the shuffler's public key, of the same form as SealKey and another one: the second
	// share of a SharedMechanism is sealed to it. Such a round with a Shuffler has one, as package
	// server/seal demands.
	ShareKey []byte
}

// NewPublicSeed draws a public seed from the operating system.
func NewPublicSeed() (seed [32]byte) {
	_, _ = crand.Read(seed[:]) // never fails, see NewRand
	return seed
}

// Validate checks everything that can be checked without knowing the
// mechanism, and returns a *ParamError for the first field that breaks a rule.
func (r Round) Validate() error {
	switch {
	case !idPattern.MatchString(r.ID):
		return Invalid("id", r.ID, "must be 1 to 64 ASCII letters, digits, points, underscores or hyphens, such as round-1")
	case !namePattern.MatchString(r.Mechanism):
		return Invalid("mechanism", r.Mechanism, nameRule+", such as coco")
	case r.Dim < 1 || r.Dim > MaxDim:
		return Invalid("dim", r.Dim, "must be in [1, %d]", MaxDim)
	case !(r.Scale > 0) || math.IsInf(r.Scale, 1):
		return Invalid("scale", r.Scale, "must be finite and > 0")
	case !(r.Epsilon > 0) || r.Epsilon > MaxEpsilon && !math.IsInf(r.Epsilon, 1):
		return Invalid("epsilon", r.Epsilon, "must be in (0, %d], or +Inf for no privacy", MaxEpsilon)
	case !(r.Delta >= 0 && r.Delta < 1):
		return Invalid("delta", r.Delta, "must be in [0, 1)")
	case r.Relation != ReplaceOne && r.Relation != ZeroOut:
		return Invalid("relation", r.Relation, "must be %s or %s", ReplaceOne, ZeroOut)
	case r.MinReports < 1 || r.MinReports > MaxReports:
		return Invalid("min_reports", r.MinReports, "must be in [1, %d]", MaxReports)
	case r.TargetReports != 0 && (r.TargetReports < r.MinReports || r.TargetReports > MaxReports):
		return Invalid("target_reports", r.TargetReports,
			"must be 0 or in [min_reports = %d, %d]", r.MinReports, MaxReports)
	case !r.Deadline.IsZero() && (r.Deadline.Year() < 1 || r.Deadline.Year() > 9999):
		return Invalid("deadline", r.Deadline, "must lie in the years 1 to 9999")
	case r.PublicSeed == [32]byte{}:
		return Invalid("public_seed", "all zeros", "must be drawn at random, see NewPublicSeed")
	case len(r.IssuerKey) > MaxIssuerKeyBytes:
		return Invalid("issuer_key", fmt.Sprintf("%d bytes", len(r.IssuerKey)), "must have at most %d", MaxIssuerKeyBytes)
	case r.Shuffler != "" && !hostPattern.MatchString(r.Shuffler):
		return Invalid("shuffler", r.Shuffler, "must be the name in the shuffler's certificate: lower-case letters, digits, points and hyphens, such as shuffler.example.org")
	case len(r.SealKey) > MaxSealKeyBytes:
		return Invalid("seal_key", fmt.Sprintf("%d bytes", len(r.SealKey)), "must have at most %d", MaxSealKeyBytes)
	case (r.Shuffler == "") != (len(r.SealKey) == 0):
		return Invalid("seal_key", fmt.Sprintf("%d bytes", len(r.SealKey)), "must be there with a shuffler, and only then")
	case len(r.ShareKey) > MaxSealKeyBytes:
		return Invalid("share_key", fmt.Sprintf("%d bytes", len(r.ShareKey)), "must have at most %d", MaxSealKeyBytes)
	case len(r.ShareKey) > 0 && r.Shuffler == "":
		return Invalid("share_key", fmt.Sprintf("%d bytes", len(r.ShareKey)), "must be empty in a round without a shuffler")
	case len(r.ShareKey) > 0 && bytes.Equal(r.ShareKey, r.SealKey):
		return Invalid("share_key", "the seal_key", "must be another key: who has both reads every gradient")
	case r.Features != "" && !mapPattern.MatchString(r.Features):
		return Invalid("features", r.Features, "must be 1 to %d ASCII letters, digits, points, underscores, colons or hyphens, such as scatter", MaxFeaturesBytes)
	}
	return cmp.Or(r.validateOuterKey(), r.validateColumns(), r.Params.validate())
}

func (r Round) validateOuterKey() error {
	const name = "outer_issuer_key"
	switch got := fmt.Sprintf("%d bytes", len(r.OuterIssuerKey)); {
	case len(r.OuterIssuerKey) == 0:
		return nil
	case r.Shuffler == "" || len(r.IssuerKey) == 0:
		return Invalid(name, got, "must be empty in a round without a shuffler or without an issuer_key")
	case len(r.OuterIssuerKey) > MaxIssuerKeyBytes:
		return Invalid(name, got, "must have at most %d", MaxIssuerKeyBytes)
	case bytes.Equal(r.OuterIssuerKey, r.IssuerKey):
		return Invalid(name, "the issuer_key", "must be another key: a client gets one token under a key, and needs two")
	}
	return nil
}

// CheckLocal checks what mechanisms with ε-local differential privacy ask of a round: a
// finite ε, no δ and the relation ReplaceOne.
func (r Round) CheckLocal() error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Delta != 0:
		return Invalid("delta", r.Delta, "must be 0: this mechanism is ε-LDP")
	case r.Relation != ReplaceOne:
		return Invalid("relation", r.Relation, "must be %s: this mechanism is local", ReplaceOne)
	}
	return nil
}

func (r Round) validateColumns() error {
	if len(r.Columns) > MaxColumns {
		return Invalid("columns", len(r.Columns), "must be at most %d", MaxColumns)
	}
	for i, name := range r.Columns {
		if !namePattern.MatchString(name) || name == ColumnMean || slices.Contains(r.Columns[:i], name) {
			return Invalid("columns", name, nameRule+", be listed once and not be %q, which every round has", ColumnMean)
		}
	}
	return nil
}

// Digest returns the SHA-256 of the canonical encoding. Two parties with the
// same digest hold the same Round.
func (r Round) Digest() ([32]byte, error) {
	b, err := r.MarshalBinary()
	if err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(b), nil
}

// PublicKey derives 32 bytes of public randomness for one purpose from
// PublicSeed, by HKDF-Expand with SHA-256 (RFC 5869). Different purposes give
// independent keys. It is the only derivation in the module.
func (r Round) PublicKey(purpose string) ([32]byte, error) {
	b, err := hkdf.Expand(sha256.New, r.PublicSeed[:], "hushgrad/v1/"+purpose, 32)
	if err != nil {
		return [32]byte{}, fmt.Errorf("fl: public key %q: %w", purpose, err)
	}
	return [32]byte(b), nil
}

// NewRand returns a generator for private randomness: ChaCha8 keyed with 32
// bytes from the operating system. It is not safe for concurrent use; make one
// per goroutine.
func NewRand() *rand.Rand {
	var key [32]byte
	// crypto/rand.Read never fails: it ends the program if the system has no randomness.
	_, _ = crand.Read(key[:])
	return rand.New(rand.NewChaCha8(key))
}
