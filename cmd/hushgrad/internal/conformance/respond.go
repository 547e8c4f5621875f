package conformance

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/reportfile"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
)

const (
	// maxLine bounds a case and an answer, in bytes.
	maxLine = 1 << 20
	// maxDim bounds the rounds that are opened.
	maxDim = 1 << 17
	// maxSampled bounds the reports that one case asks for.
	maxSampled = 1 << 14
)

// Respond answers a case by this module's code.
func Respond(c Case) Answer {
	a, err := respond(c)
	if err != nil {
		a = Answer{Refused: err.Error()}
	}
	a.ID = c.ID
	return a
}

func respond(c Case) (a Answer, err error) {
	switch c.Subject {
	case Round:
		return encodeRound(c.RoundJSON)
	case Seed:
		seed := admit.Seed(c.Token)
		return Answer{Seed: &seed}, nil
	case Tag:
		tag := hmac.New(sha256.New, c.TagKey)
		_, _ = tag.Write(c.Share) // never fails
		return Answer{Tag: tag.Sum(nil)}, nil
	case Encoding, PublicKey, Token, Report, Sealed, SealedShare, Encode: // below
	default:
		return Answer{Unsupported: true}, nil
	}
	var r fl.Round
	if err := r.UnmarshalBinary(c.Round); err != nil {
		return a, err
	}
	digest, err := r.Digest()
	if err != nil {
		return a, err
	}
	switch c.Subject {
	case Encoding:
		return Answer{Digest: digest[:]}, nil
	case PublicKey:
		key, err := r.PublicKey(c.Purpose)
		return Answer{PublicKey: key[:]}, err
	case Token:
		v, err := admit.NewVerifier(c.IssuerKey, digest)
		if err == nil {
			err = v.Verify(c.Token)
		}
		return Answer{Accepted: true}, err
	}
	if r.Dim > maxDim {
		return a, fl.Invalid("dim", r.Dim, "must be at most %d in a case", maxDim)
	}
	m, err := fl.Open(r)
	if err != nil {
		return a, err
	}
	switch c.Subject {
	case Report:
		a.Accepted = true
		a.Counts, err = counts(r, m, c.Report, c.Coordinates)
	case Encode:
		a.Reports, err = sample(m, c)
	default:
		return open(r, m, digest, c)
	}
	return a, err
}

// encodeRound returns the canonical encoding of a round in its JSON form, and its digest.
func encodeRound(text []byte) (a Answer, err error) {
	m, err := reportfile.ReadRound(Round, bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	r, err := fl.RoundFromProto(m)
	if err != nil {
		return a, err
	}
	digest, err := r.Digest()
	if err != nil {
		return a, err
	}
	a.Digest = digest[:]
	a.Round, err = r.MarshalBinary()
	return a, err
}

// counts returns what a report counts for at coordinates: 1, −1 or 0. For privunit they are the signs of rotated coordinates.
// Other mechanisms have no counts: a case has no coordinates there.
func counts(r fl.Round, m fl.Mechanism, report []byte, coordinates []int) ([]int, error) {
	agg := m.NewAggregator()
	if err := agg.Add(report); err != nil {
		return nil, err
	}
	if len(coordinates) == 0 {
		return nil, nil
	}
	all, err := countsOf(r, m, agg)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(coordinates))
	for i, j := range coordinates {
		if j < 0 || j >= len(all) {
			return nil, fl.Invalid("coordinates", j, "must be in [0, %d)", len(all))
		}
		at[i] = all[j]
	}
	return at, nil
}

// countsOf returns what the one report of an aggregator counts for at each coordinate.
func countsOf(r fl.Round, m fl.Mechanism, agg fl.Aggregator) ([]int, error) {
	if r.Mechanism == "privunit" {
		return signsOf(r, agg)
	}
	hits, ok := m.(fl.HitMechanism)
	if !ok {
		return nil, fl.Invalid("mechanism", r.Mechanism, "must have reports that count for 1, -1 or 0")
	}
	estimate, err := agg.Estimate()
	if err != nil {
		return nil, err
	}
	all := make([]int, r.Dim)
	for j, v := range estimate.Mean().Value {
		all[j] = int(math.Round(v / hits.Sway()))
	}
	return all, nil
}

// signsOf reads the signs of a candidate of privunit in a snapshot of its report alone.
func signsOf(r fl.Round, agg fl.Aggregator) (all []int, err error) {
	snapshot, err := agg.MarshalBinary()
	if err != nil {
		return nil, err
	}
	counted, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	p, err := counted.Payload(snapshot, maxLine)
	if err != nil {
		return nil, err
	}
	p.Reports()
	for negative := p.Uvarint(1); p.OK(); negative = p.Uvarint(1) {
		all = append(all, 1-2*int(negative))
	}
	return all, nil
}

// sample encodes a gradient many times, with the token's seed if there is one.
func sample(m fl.Mechanism, c Case) (reports []byte, err error) {
	if c.Reports < 1 || c.Reports > maxSampled {
		return nil, fl.Invalid("reports", c.Reports, "must be in [1, %d]", maxSampled)
	}
	if len(c.Token) > 0 {
		seeded, ok := m.(fl.SeededMechanism)
		if !ok {
			return nil, fl.Invalid("token", "one", "must not be there: reports of the mechanism have no seeds")
		}
		m = seeded.WithSeed(admit.Seed(c.Token))
	}
	for range c.Reports {
		if reports, err = m.Encode(reports, c.Gradient, nil); err != nil {
			return nil, err
		}
		if len(reports) > maxLine/2 {
			return nil, fl.Invalid("reports", c.Reports, "must have at most %d bytes together", maxLine/2)
		}
	}
	return reports, nil
}

// open opens a sealed report, or the sealed share behind it.
func open(r fl.Round, m fl.Mechanism, digest [32]byte, c Case) (a Answer, err error) {
	f, err := seal.FormatOf(r, m)
	if err != nil {
		return a, err
	}
	public, size := r.SealKey, f.Sealed
	if c.Subject == SealedShare {
		public, size = r.ShareKey, f.Item()
	}
	if len(c.Item) != size {
		return a, fl.Invalid("item", fmt.Sprintf("%d bytes", len(c.Item)), "must have %d", size)
	}
	key, err := seal.ParseKey(public, c.PrivateKey)
	if err != nil {
		return a, err
	}
	if c.Subject == SealedShare {
		share, tag, err := key.NewShareOpener(f, digest).Open(c.Item)
		return Answer{Share: share, Tag: tag}, err
	}
	a.Plaintext, err = key.NewOpener(digest).Open(c.Item)
	return a, err
}

// Serve reads cases, one a line, and writes an answer for each.
func Serve(in io.Reader, out io.Writer) error {
	lines, write := bufio.NewScanner(in), json.NewEncoder(out)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var c Case
		if err := strictly(lines.Bytes(), &c); err != nil {
			return fl.Invalid("case", fmt.Sprintf("line %d", n), "must be the JSON of a case: %v", err)
		}
		if err := write.Encode(Respond(c)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fl.Invalid("case", "standard input", "must be lines of at most %d bytes: %v", maxLine, err)
	}
	return nil
}
