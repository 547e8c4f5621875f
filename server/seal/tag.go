package seal

import (
	"crypto/hmac"
	"crypto/sha256"
)

// TagBytes is the length of the tag of a second server's share, and of the tag's key.
const TagBytes = sha256.Size

// tagOf returns the tag of a second server's share: its HMAC-SHA256. The key is fresh for each share
// and stays with the share. A plain hash would be a way for the first server to try gradients: it has
// the seed from which it can make the share of each of them.
func tagOf(key, share []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(share) // never fails
	return h.Sum(nil)
}

// Second returns the second server's share in an item, and its tag. They are nil in a round of a mechanism for
// one server. The share is the one that its client has sealed a tag of if the two tags are equal.
func (f Format) Second(item []byte) (share, tag []byte) {
	if f.Tag == 0 {
		return nil, nil
	}
	key, share := item[f.Sealed:f.Sealed+f.Tag], item[f.Sealed+f.Tag:]
	return share, tagOf(key, share)
}
