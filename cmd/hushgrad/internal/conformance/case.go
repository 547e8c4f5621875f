package conformance

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// The subjects: what a case asks for. docs/conformance.md has their fields.
const (
	Round       = "round"
	Encoding    = "encoding"
	PublicKey   = "public-key"
	Report      = "report"
	Seed        = "seed"
	Token       = "token"
	Sealed      = "sealed"
	SealedShare = "sealed-share"
	Tag         = "tag"
	Encode      = "encode"
)

// Hex is a string of bytes. JSON has its hexadecimal digits.
type Hex []byte

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// Case is one question. A subject uses some of the fields.
type Case struct {
	ID      int    `json:"id"`
	Subject string `json:"subject"`
	Name    string `json:"name"`
	// Round is the canonical encoding of a round, apart from the bytes of Encoding, which may be any.
	Round Hex `json:"round,omitempty"`
	// RoundJSON is the JSON form of a round.
	RoundJSON json.RawMessage `json:"round_json,omitempty"`
	Purpose   string          `json:"purpose,omitempty"`
	Report    Hex             `json:"report,omitempty"`
	// Coordinates are the ones whose counts are asked for.
	Coordinates []int `json:"coordinates,omitempty"`
	// Token is the one to check, and in a case of Encode the one that assigns the seed.
	Token     Hex `json:"token,omitempty"`
	IssuerKey Hex `json:"issuer_key,omitempty"`
	// PrivateKey is the private key behind the round's seal_key, or behind its share_key, in the form of RFC 9180.
	PrivateKey Hex `json:"private_key,omitempty"`
	// Item is what a client sends to a shuffler, or the sealed report alone.
	Item     Hex       `json:"item,omitempty"`
	TagKey   Hex       `json:"tag_key,omitempty"`
	Share    Hex       `json:"share,omitempty"`
	Gradient []float64 `json:"gradient,omitempty"`
	Reports  int       `json:"reports,omitempty"`

	// Where the answer is specified, a file of the repository.
	Where string `json:"where,omitempty"`
	// Want is the answer. No case of Encode has one.
	Want *Answer `json:"want,omitempty"`
	// Law has the probabilities of a case of Encode.
	Law *Law `json:"law,omitempty"`
}

// Answer is an adapter's. A subject uses some of the fields.
type Answer struct {
	ID int `json:"id,omitempty"`
	// Unsupported: the implementation does not do what the case asks for.
	Unsupported bool `json:"unsupported,omitempty"`
	// Refused says why the implementation refuses the case's bytes. Any text is right where they are to be refused.
	Refused string `json:"refused,omitempty"`
	// Accepted: the token or the report is good.
	Accepted  bool    `json:"accepted,omitempty"`
	Round     Hex     `json:"round,omitempty"`
	Digest    Hex     `json:"digest,omitempty"`
	PublicKey Hex     `json:"public_key,omitempty"`
	Counts    []int   `json:"counts,omitempty"`
	Seed      *uint32 `json:"seed,omitempty"`
	Plaintext Hex     `json:"plaintext,omitempty"`
	Share     Hex     `json:"share,omitempty"`
	Tag       Hex     `json:"tag,omitempty"`
	// Reports are reports of one length, one after the other.
	Reports Hex `json:"reports,omitempty"`
}

// Law has the probabilities that a report counts for +1 and for −1 at each coordinate.
type Law struct {
	Plus  []float64 `json:"plus"`
	Minus []float64 `json:"minus"`
}

//go:embed vectors.jsonl
var vectors []byte

// WriteVectors writes the cases with their answers, one a line.
func WriteVectors(w io.Writer) error {
	_, err := w.Write(vectors)
	return err
}

// Cases returns the cases with their answers.
func Cases() ([]Case, error) {
	var all []Case
	for line := range bytes.Lines(vectors) {
		var c Case
		if err := strictly(line, &c); err != nil {
			return nil, fmt.Errorf("vectors.jsonl: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

// strictly reads one JSON value that has no unknown fields, and nothing behind it.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("something follows the JSON value")
	}
	return nil
}
