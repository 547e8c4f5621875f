package jetstream

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

// kind says what a message in a lane is.
type kind byte

const (
	kindOpen    kind = 'O' // a round is open: its description
	kindReports kind = 'R' // sealed reports of a round
	kindFence   kind = 'F' // what the leader waits for when it closes a round
	kindEnd     kind = 'E' // a round has ended: its reports are needed no more
)

// message is what a lane carries: the kind, the digest of the round in 32 bytes, and the body.
type message struct {
	kind   kind
	digest [32]byte
	body   []byte
}

const (
	headerBytes = 1 + 32
	// maxMessageBytes bounds a message: the largest payload of a broker.
	maxMessageBytes = 64 << 20
)

func (m message) marshal() []byte {
	out := append(make([]byte, 0, headerBytes+len(m.body)), byte(m.kind))
	return append(append(out, m.digest[:]...), m.body...)
}

// parseMessage reads a message and keeps parts of its bytes. The error is a *fl.ParamError.
func parseMessage(data []byte) (m message, err error) {
	if len(data) < headerBytes || len(data) > maxMessageBytes {
		return m, fl.Invalid("message", fmt.Sprintf("%d bytes", len(data)), "must have %d to %d", headerBytes, maxMessageBytes)
	}
	m = message{kind: kind(data[0]), digest: [32]byte(data[1:headerBytes]), body: data[headerBytes:]}
	switch m.kind {
	case kindOpen, kindReports:
		if len(m.body) == 0 {
			return message{}, fl.Invalid("body", "0 bytes", "must not be empty")
		}
	case kindFence, kindEnd:
		if len(m.body) > 0 {
			return message{}, fl.Invalid("body", fmt.Sprintf("%d bytes", len(m.body)), "must be empty")
		}
	default:
		return message{}, fl.Invalid("kind", byte(m.kind), "must be known")
	}
	return m, nil
}

// openMessage announces a round.
func openMessage(r fl.Round) (message, error) {
	digest, err := r.Digest()
	if err != nil {
		return message{}, err
	}
	body, err := r.MarshalBinary()
	return message{kindOpen, digest, body}, err
}

// round returns the round that a message announces.
func (m message) round() (r fl.Round, err error) {
	if err := r.UnmarshalBinary(m.body); err != nil {
		return r, err
	}
	digest, err := r.Digest()
	if err == nil && digest != m.digest {
		err = fl.Invalid("digest", fmt.Sprintf("%x", m.digest), "must be %x, the round's digest", digest)
	}
	return r, err
}

// shardOf returns the partition of a report with an id, in [0, shards).
func shardOf(id [32]byte, shards int) int {
	high, _ := bits.Mul64(binary.BigEndian.Uint64(id[:]), uint64(shards))
	return int(high)
}
