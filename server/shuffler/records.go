package shuffler

import (
	"encoding/json"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// What the shuffler keeps in its journal:
//
//	shuffler/head/<id>            a head, as JSON
//	shuffler/open/<id>            nothing: the round is not being forwarded yet
//	shuffler/report/<id>/<key>    an encrypted report
//	shuffler/token/<id>/<key>     nothing: the token was spent
//	shuffler/sum/<id>             the encrypted sum of the second server's shares, before it leaves
//	shuffler/used/<id>            an outcome: the round has ended
//	shuffler/vault                the id of the directory of secrets with which the journal began
//	shuffler/probe                nothing: there is room again
//	shuffler/model                the server's model, and shuffler/model/ its parts: see server/internal/model
//
// The model is what everybody may read. Other values are encrypted under the secret of the round, and their keys are authenticated. The key of
// a report or a token has 32 bytes. A round that has ended has a record of its id and its outcome
// alone.
const (
	headPrefix   = "shuffler/head/"
	openPrefix   = "shuffler/open/"
	reportPrefix = "shuffler/report/"
	tokenPrefix  = "shuffler/token/"
	sumPrefix    = "shuffler/sum/"
	usedPrefix   = "shuffler/used/"
	vaultKey     = "shuffler/vault"
	probeKey     = "shuffler/probe"
	modelKey     = "shuffler/model"
)

func headKey(id string) []byte { return []byte(headPrefix + id) }

func openKey(id string) []byte { return []byte(openPrefix + id) }

func usedKey(id string) []byte { return []byte(usedPrefix + id) }

func sumKey(id string) []byte { return []byte(sumPrefix + id) }

func reportsOf(id string) []byte { return []byte(reportPrefix + id + "/") }

func tokensOf(id string) []byte { return []byte(tokenPrefix + id + "/") }

func tokenKey(id string, key [keyBytes]byte) []byte { return append(tokensOf(id), key[:]...) }

func reportKey(id string, key [keyBytes]byte) []byte { return append(reportsOf(id), key[:]...) }

// outcome is how a round has ended.
type outcome string

const (
	// forwarded: the server has all reports, or has closed the round.
	forwarded outcome = "forwarded"
	// expired: there were too few reports at the deadline, and none has left.
	expired outcome = "expired"
	// withdrawn: the server has ended the round without an estimate.
	withdrawn outcome = "withdrawn"
)

func parseOutcome(data []byte) (outcome, error) {
	switch o := outcome(data); o {
	case forwarded, expired, withdrawn:
		return o, nil
	}
	return "", fl.Invalid("outcome", fmt.Sprintf("%d bytes", len(data)), "must be %s, %s or %s", forwarded, expired, withdrawn)
}

const headVersion = 1

// head is what the journal has about a round that has not ended.
type head struct {
	Version int `json:"version"`
	// Round is its canonical encoding.
	Round []byte `json:"round"`
	// Check shows whether a secret is the round's.
	Check []byte `json:"check"`
}

// parseHead reads a head and its round.
func parseHead(data []byte) (h head, r fl.Round, err error) {
	if err := json.Unmarshal(data, &h); err != nil {
		return h, r, fl.Invalid("head", fmt.Sprintf("%d bytes", len(data)), "must be a round's: %v", err)
	}
	switch {
	case h.Version != headVersion:
		return h, r, fl.Invalid("version", h.Version, "must be %d", headVersion)
	case len(h.Check) != checkBytes:
		return h, r, fl.Invalid("check", fmt.Sprintf("%d bytes", len(h.Check)), "must have %d", checkBytes)
	}
	return h, r, r.UnmarshalBinary(h.Round)
}
