package client

import (
	"encoding/json"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// submission is one report and what makes it count once: a batch key, or a token or the request
// for it. A ledger keeps it, so that a client that was killed sends the same bytes again.
type submission struct {
	Version  int    `json:"version"`
	Report   []byte `json:"report"`
	BatchKey []byte `json:"batch_key,omitempty"`
	Request  []byte `json:"request,omitempty"` // of admit.Request.MarshalBinary
	Token    []byte `json:"token,omitempty"`
}

const submissionVersion = 1

func (s submission) marshal() ([]byte, error) { return json.Marshal(s) }

func parseSubmission(data []byte) (s submission, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return submission{}, fl.Invalid("submission", fmt.Sprintf("%d bytes", len(data)), "must be what this client has kept: %v", err)
	}
	switch {
	case s.Version != submissionVersion:
		return submission{}, fl.Invalid("version", s.Version, "must be %d", submissionVersion)
	case (len(s.BatchKey) == 16) == (len(s.Request) > 0):
		return submission{}, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", len(s.BatchKey)), "must have 16, or there must be a request for a token")
	}
	return s, nil
}
