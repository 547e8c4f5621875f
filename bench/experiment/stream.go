package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// streamLabel keeps these keys apart from all others that come from a seed.
const streamLabel = "hushgrad experiment stream"

// Stream returns the generator for one part of an experiment, named by numbers
// (the setting, the repeat, the client, …): ChaCha8 keyed with the SHA-256 of the
// seed and the parts. It depends on nothing else: a part gives the same numbers at any
// time and in any goroutine. It is for experiments only, because the seed reveals the
// noise.
func Stream(seed uint64, parts ...uint64) *rand.Rand {
	message := binary.LittleEndian.AppendUint64([]byte(streamLabel), seed)
	for _, part := range parts {
		message = binary.LittleEndian.AppendUint64(message, part)
	}
	return rand.New(rand.NewChaCha8(sha256.Sum256(message)))
}
