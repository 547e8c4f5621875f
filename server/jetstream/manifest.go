package jetstream

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// manifest says up to where a shard has read, and what came of it.
type manifest struct {
	Version int    `json:"version"`
	Holder  string `json:"holder"` // the member that wrote it
	// Positions are the numbers of the last messages that were read, by lane.
	Positions []uint64 `json:"positions"`
	Rounds    []entry  `json:"rounds"`
}

// entry is a round in a manifest.
type entry struct {
	Round    []byte `json:"round"` // fl.Round.MarshalBinary
	Reports  int64  `json:"reports"`
	Rejected int64  `json:"rejected"`
	Sum      string `json:"sum"`   // object with the aggregator, "" before the first report
	Head     string `json:"head"`  // object with the newest segment of ids, "" before the first report
	Ended    []bool `json:"ended"` // lanes that say that the round has ended

	description fl.Round
	digest      [32]byte
}

const (
	manifestVersion  = 1
	maxManifestBytes = 1 << 20
	maxRounds        = 1024
)

func (m manifest) marshal() ([]byte, error) {
	m.Version = manifestVersion
	data, err := json.Marshal(m)
	if err == nil && len(data) > maxManifestBytes {
		err = fl.Invalid("manifest", fmt.Sprintf("%d bytes", len(data)), "must have at most %d: too many rounds are open", maxManifestBytes)
	}
	return data, err
}

// parseManifest reads a manifest of a cluster with these lanes. The error is a *fl.ParamError.
func parseManifest(data []byte, lanes int) (m manifest, err error) {
	if len(data) > maxManifestBytes {
		return m, fl.Invalid("manifest", fmt.Sprintf("%d bytes", len(data)), "must have at most %d", maxManifestBytes)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || d.More() {
		return manifest{}, fl.Invalid("manifest", fmt.Sprintf("%d bytes", len(data)), "must be JSON of a manifest: %v", err)
	}
	switch {
	case m.Version != manifestVersion:
		return manifest{}, fl.Invalid("version", m.Version, "must be %d", manifestVersion)
	case len(m.Positions) != lanes:
		return manifest{}, fl.Invalid("positions", len(m.Positions), "must be one for each of %d lanes", lanes)
	case len(m.Rounds) > maxRounds:
		return manifest{}, fl.Invalid("rounds", len(m.Rounds), "must be at most %d", maxRounds)
	}
	seen := map[[32]byte]bool{}
	for i := range m.Rounds {
		e := &m.Rounds[i]
		if err := e.check(lanes); err != nil {
			return manifest{}, err
		}
		if seen[e.digest] {
			return manifest{}, fl.Invalid("rounds", hex.EncodeToString(e.digest[:]), "must be there once")
		}
		seen[e.digest] = true
	}
	return m, nil
}

func (e *entry) check(lanes int) (err error) {
	if err := e.description.UnmarshalBinary(e.Round); err != nil {
		return err
	}
	if e.digest, err = e.description.Digest(); err != nil {
		return err
	}
	switch {
	case e.Reports < 0 || e.Reports > fl.MaxReports:
		return fl.Invalid("reports", e.Reports, "must be in [0, %d]", fl.MaxReports)
	case e.Rejected < 0:
		return fl.Invalid("rejected", e.Rejected, "must be ≥ 0")
	case len(e.Ended) != lanes:
		return fl.Invalid("ended", len(e.Ended), "must be one for each of %d lanes", lanes)
	case (e.Reports > 0) != (e.Sum != "") || (e.Reports > 0) != (e.Head != ""):
		return fl.Invalid("sum", e.Sum, "must be there exactly if there are reports, with head")
	}
	return cmp.Or(checkName("sum", e.Sum), checkName("head", e.Head))
}

// past reports whether all positions have reached a fence's positions.
func (m manifest) past(fence []uint64) bool {
	for lane, at := range fence {
		if m.Positions[lane] < at {
			return false
		}
	}
	return true
}

// find returns the entry of a round.
func (m manifest) find(digest [32]byte) (entry, bool) {
	for _, e := range m.Rounds {
		if e.digest == digest {
			return e, true
		}
	}
	return entry{}, false
}
