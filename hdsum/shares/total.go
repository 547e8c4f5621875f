package shares

import (
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/idset"
)

// total is what was added up: one residue for each rotated coordinate.
type total struct {
	sums    []uint64 // modulo 2^64, which the ring's modulus divides
	reports int64
}

func (m *mechanism) newTotal() total { return total{sums: make([]uint64, m.ring.length)} }

func (t *total) merge(other *total) {
	for i, v := range other.sums {
		t.sums[i] += v
	}
	t.reports += other.reports
}

// maxReports bounds the number of reports that a snapshot may claim.
const maxReports = 1 << 40

// both is the side of an aggregator of whole reports in its snapshot.
const both fl.ShareSide = 0

// encode returns the binary form of a total of one side: a byte for the side, the number of
// reports as an uvarint, the digest of the ids (not for both) and the packed sums.
func (m *mechanism) encode(side fl.ShareSide, t *total, ids *idset.Digest) ([]byte, error) {
	payload := binary.AppendUvarint([]byte{byte(side)}, uint64(t.reports))
	if side != both {
		payload = ids.Append(payload)
	}
	return m.round.Snapshot(m.ring.pack(payload, t.sums))
}

// decode is the inverse of encode. The error is a *fl.ParamError, wrapped.
func (m *mechanism) decode(side fl.ShareSide, data []byte) (t total, ids idset.Digest, err error) {
	rest := m.ring.bytes()
	if side != both {
		rest += idset.Bytes
	}
	read, err := m.round.Payload(data, 1+binary.MaxVarintLen64+rest)
	if err != nil {
		return t, ids, err
	}
	payload := read.Rest()
	if len(payload) == 0 || fl.ShareSide(payload[0]) != side {
		return t, ids, fl.Invalid("side", fmt.Sprintf("% x", payload[:min(1, len(payload))]), "must be %d", side)
	}
	payload = payload[1:]
	reports, used := binary.Uvarint(payload)
	if used <= 0 || used > 1 && payload[used-1] == 0 || reports > maxReports {
		return t, ids, fl.Invalid("reports", reports, "must be a varint of the shortest form, at most %d", int64(maxReports))
	}
	payload = payload[used:]
	if len(payload) != rest || !m.ring.wellFormed(payload[rest-m.ring.bytes():]) {
		return t, ids, fl.Invalid("sums", fmt.Sprintf("%d bytes", len(payload)), "must be %d bytes, unused bits 0", rest)
	}
	if side != both {
		ids, payload = idset.Parse(payload), payload[idset.Bytes:]
	}
	t = m.newTotal()
	m.ring.add(t.sums, payload)
	t.reports = int64(reports)
	return t, ids, nil
}

// bad returns an error about a report or share that no client sends.
func bad(what string, got any, rule string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", Name, fl.ErrBadReport, fl.Invalid(what, got, rule, args...))
}
