package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
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

// ShareOpener opens the second shares of a round. It is immutable and safe for concurrent use.
type ShareOpener struct {
	opener Opener
	format Format
}

// NewShareOpener returns the opener of a round of a mechanism for two servers, whose fl.Round.ShareKey is
// the key's public half.
func (k *Key) NewShareOpener(f Format, digest [32]byte) *ShareOpener {
	return &ShareOpener{Opener{suites[k.suite], k.private, shareLabel, digest}, f}
}

// Open returns the second server's share in an item of Format.Item bytes, and the share's tag. The share is the one that
// its client has sealed a tag of if the two tags are equal. The error wraps ErrSealed. Cost: as Opener.Open.
func (o *ShareOpener) Open(item []byte) (share, tag []byte, err error) {
	if len(item) != o.format.Item() {
		return nil, nil, fmt.Errorf("seal: %w: %d bytes, and not %d", ErrSealed, len(item), o.format.Item())
	}
	sealed, second := item[:o.format.Sealed], item[o.format.Sealed:]
	id := ID(sealed)
	plaintext, err := o.opener.open(second, id[:]...)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the second share", err)
	}
	key, share := plaintext[:TagBytes], plaintext[TagBytes:]
	return share, tagOf(key, share), nil
}
