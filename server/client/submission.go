package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/admit"
)

// submission is one report and what makes it count once: a batch key, tokens or the requests
// for them, or the sealed bytes. A ledger keeps it, so that a client that was killed sends the same
// bytes again. A report that has a token is made after it: before, there is none.
type submission struct {
	Version  int    `json:"version"`
	Report   []byte `json:"-"`
	BatchKey []byte `json:"batch_key,omitempty"`
	Request  []byte `json:"request,omitempty"` // of admit.Request.MarshalBinary
	Token    []byte `json:"token,omitempty"`
	// OuterRequest and OuterToken are those for the shuffler.
	OuterRequest []byte `json:"outer_request,omitempty"`
	OuterToken   []byte `json:"outer_token,omitempty"`
	// Item is what leaves for a shuffler: see package server/seal.
	Item []byte `json:"-"`
}

const (
	submissionVersion = 2
	batchKeyBytes     = 16
	// maxKeptSealed is the length up to which a ledger can keep a report, what is sealed, and tokens.
	maxKeptSealed = (ledger.MaxKept - 1<<16) / 2
)

// submissionHead is a line of JSON before the report and the item, which may be long.
type submissionHead struct {
	submission
	ReportBytes int `json:"report_bytes"`
	ItemBytes   int `json:"item_bytes,omitempty"`
}

func (s submission) marshal() ([]byte, error) {
	head, err := json.Marshal(submissionHead{s, len(s.Report), len(s.Item)})
	return slices.Concat(head, []byte{'\n'}, s.Report, s.Item), err
}

// form is what the submissions of a round look like.
type form struct {
	admitted bool // the round asks for tokens
	item     int  // length of an item, 0 without a shuffler
	spent    bool // the submission may have left
}

// unmarshalSubmission is the inverse of submission.marshal. The report and the item are parts of data.
func unmarshalSubmission(data []byte) (submission, error) {
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var h submissionHead
	if err := d.Decode(&h); err != nil {
		return submission{}, err
	}
	if _, end := d.Token(); !errors.Is(end, io.EOF) {
		return submission{}, errors.New("more than one value")
	}
	n := h.ReportBytes
	if n < 0 || n > len(rest) || len(rest)-n != h.ItemBytes {
		return submission{}, fl.Invalid("report_bytes", n, "must be of the %d bytes that follow, as item_bytes = %d", len(rest), h.ItemBytes)
	}
	h.Report, h.Item = rest[:n:n], rest[n:]
	return h.submission, nil
}

func parseSubmission(data []byte, f form) (s submission, err error) {
	if s, err = unmarshalSubmission(data); err != nil {
		return submission{}, fl.Invalid("submission", fmt.Sprintf("%d bytes", len(data)), "must be what this client has kept: %v", err)
	}
	key, tokens := 0, 0
	if !f.admitted && f.item == 0 {
		key = batchKeyBytes
	}
	if f.admitted && (f.spent || len(s.Report) > 0 || len(s.Item) > 0 || len(s.Token) > 0) {
		tokens = admit.TokenBytes
	}
	outer := f.admitted && f.item > 0
	outerTokens := 0
	if outer {
		outerTokens = tokens
	}
	items := f.item
	if len(s.Item) == 0 && !f.spent {
		items = 0
	}
	switch {
	case s.Version != submissionVersion:
		err = fl.Invalid("version", s.Version, "must be %d", submissionVersion)
	case len(s.BatchKey) != key:
		err = fl.Invalid("batch_key", fmt.Sprintf("%d bytes", len(s.BatchKey)), "must have %d in this round", key)
	case (len(s.Request) > 0) != f.admitted:
		err = fl.Invalid("request", fmt.Sprintf("%d bytes", len(s.Request)), "must be there in a round that asks for tokens, and only then")
	case len(s.Token) != tokens:
		err = fl.Invalid("token", fmt.Sprintf("%d bytes", len(s.Token)), "must have %d", tokens)
	case (len(s.OuterRequest) > 0) != outer:
		err = fl.Invalid("outer_request", fmt.Sprintf("%d bytes", len(s.OuterRequest)), "must be there in a round that asks for tokens and has a shuffler, and only then")
	case len(s.OuterToken) != outerTokens:
		err = fl.Invalid("outer_token", fmt.Sprintf("%d bytes", len(s.OuterToken)), "must have %d", outerTokens)
	case len(s.Item) != items:
		err = fl.Invalid("item", fmt.Sprintf("%d bytes", len(s.Item)), "must have %d", items)
	}
	if err != nil {
		return submission{}, err
	}
	return s, nil
}
