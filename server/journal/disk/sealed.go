package disk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns a value with the checksum of its pair, CRC-32C.
func seal(key, value []byte) []byte {
	sealed := make([]byte, len(value), len(value)+crc32.Size)
	copy(sealed, value)
	return binary.LittleEndian.AppendUint32(sealed, crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value))
}

// unseal returns the value of a pair, in place.
func unseal(key, sealed []byte) ([]byte, error) {
	n := len(sealed) - crc32.Size
	if n < 0 || binary.LittleEndian.Uint32(sealed[n:]) != crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, sealed[:n]) {
		return nil, fmt.Errorf("%w: the checksum of a pair does not match", ErrDamaged)
	}
	return sealed[:n:n], nil
}

// total is what all pairs have in common: a pair that is missing, or one too many, changes it.
type total struct {
	pairs uint64
	sums  uint64 // of all checksums
}

// add adds a sealed value to the total.
func (t *total) add(sealed []byte) {
	t.pairs++
	t.sums += uint64(binary.LittleEndian.Uint32(sealed[len(sealed)-crc32.Size:]))
}

// remove takes a sealed value out of the total. It is an error if there was none that could be.
func (t *total) remove(sealed []byte) error {
	if len(sealed) < crc32.Size || t.pairs == 0 {
		return fmt.Errorf("%w: a pair is not what was written", ErrDamaged)
	}
	t.pairs--
	t.sums -= uint64(binary.LittleEndian.Uint32(sealed[len(sealed)-crc32.Size:]))
	return nil
}

func (t total) String() string { return fmt.Sprintf("%d with the sum %x", t.pairs, t.sums) }

func (t total) write(tx *bolt.Tx) error {
	text := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.pairs), t.sums)
	return tx.Bucket(headBucket).Put(totalKey, seal(totalKey, text))
}

func readTotal(tx *bolt.Tx) (total, error) {
	text, err := unseal(totalKey, tx.Bucket(headBucket).Get(totalKey))
	if err == nil && len(text) != 16 {
		err = fmt.Errorf("%w: %w", ErrDamaged, fl.Invalid("total", fmt.Sprintf("%d bytes", len(text)), "must have 16"))
	}
	if err != nil {
		return total{}, err
	}
	return total{binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])}, nil
}
