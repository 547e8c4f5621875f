package jetstream

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// box encrypts what shards put into the object store about one round. Whoever can open the reports
// of the round can open it.
type box struct {
	digest [32]byte
	aead   cipher.AEAD
}

func newBox(key *seal.Key, digest [32]byte) (*box, error) {
	raw, err := key.Derive(fmt.Sprintf("snapshots of round %x", digest))
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	// Random nonces of 96 bits: a round has less than 2^32 objects.
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &box{digest, aead}, err
}

// label binds an object to its round, its shard and what it holds.
func (b *box) label(what string, shard int) []byte {
	return fmt.Appendf(nil, "%s %d %x", what, shard, b.digest)
}

// seal returns an object and its name.
func (b *box) seal(what string, shard int, plaintext []byte) (name string, object []byte) {
	object = b.aead.Seal(nil, nil, plaintext, b.label(what, shard))
	return objectName(object), object
}

// open returns what is in the object with a name.
func (b *box) open(what string, shard int, name string, object []byte) ([]byte, error) {
	if found := objectName(object); found != name {
		return nil, fl.Invalid("object", found, "must be %s", name)
	}
	plaintext, err := b.aead.Open(nil, nil, object, b.label(what, shard))
	if err != nil {
		return nil, fl.Invalid("object", name, "must be one of this round and shard: %v", err)
	}
	return plaintext, nil
}

const nameBytes = sha256.Size

func objectName(object []byte) string {
	sum := sha256.Sum256(object)
	return hex.EncodeToString(sum[:])
}

// checkName refuses what is no name of an object. "" stands for none.
func checkName(param, name string) error {
	raw, err := hex.DecodeString(name)
	if name != "" && (err != nil || len(raw) != nameBytes || hex.EncodeToString(raw) != name) {
		return fl.Invalid(param, name, "must be %d hexadecimal digits", 2*nameBytes)
	}
	return nil
}

// idBytes is how much of a report's SHA-256 tells it from others.
const idBytes = 16

type id [idBytes]byte

// segment is the ids that are new in one snapshot. Its predecessor has the ones before.
type segment struct {
	before string // name of the predecessor, "" for none
	ids    []id
}

func (s segment) marshal() []byte {
	out := make([]byte, nameBytes, nameBytes+idBytes*len(s.ids))
	if s.before != "" {
		_, _ = hex.Decode(out, []byte(s.before)) // a name
	}
	for _, one := range s.ids {
		out = append(out, one[:]...)
	}
	return out
}

func parseSegment(data []byte) (s segment, err error) {
	if len(data) < nameBytes || (len(data)-nameBytes)%idBytes != 0 {
		return s, fl.Invalid("segment", fmt.Sprintf("%d bytes", len(data)), "must have %d and %d for each id", nameBytes, idBytes)
	}
	if [nameBytes]byte(data) != [nameBytes]byte{} {
		s.before = hex.EncodeToString(data[:nameBytes])
	}
	s.ids = make([]id, 0, (len(data)-nameBytes)/idBytes)
	for rest := data[nameBytes:]; len(rest) > 0; rest = rest[idBytes:] {
		s.ids = append(s.ids, id(rest))
	}
	return s, nil
}
