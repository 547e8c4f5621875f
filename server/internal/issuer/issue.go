package issuer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"github.com/cloudflare/circl/blindsign/blindrsa"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Issue returns the blind signature of a client's message under a key, after the record of it is
// durable. identity distinguishes clients, see Admit. blinded is admit.Request.BlindedMessage. The
// same message again gets the same signature; another one of the same client is ErrIssued. The
// error wraps ErrNoKey for a key that there is not, ErrBusy when it may be tried again soon, and
// journal.ErrFull when there is no room: nothing was signed then.
//
// Cost: about 3 ms of computing and one synchronised write. As many messages are signed at one
// time as there are processors.
func (i *Issuer) Issue(ctx context.Context, identity string, keyID [32]byte, blinded []byte) (_ []byte, err error) {
	defer prefix.Error(&err, "issuer: issue")
	if err := checkIdentity(identity); err != nil {
		return nil, err
	}
	if len(blinded) != admit.SignatureBytes {
		return nil, fl.Invalid("blinded_message", fmt.Sprintf("%d bytes", len(blinded)), "must have %d", admit.SignatureBytes)
	}
	if err := i.journal.Broken(); err != nil {
		return nil, err
	}
	k, s, err := i.find(keyID)
	if err != nil {
		return nil, err
	}
	if m := new(big.Int).SetBytes(blinded); m.Sign() == 0 || m.Cmp(s.private.N) >= 0 {
		return nil, fl.Invalid("blinded_message", "a number out of range", "must be above 0 and below the modulus")
	}
	client := k.owner(s, identity)
	if err := i.enter(client); err != nil {
		return nil, err
	}
	defer i.leave(client)
	return i.once(ctx, k, s, client, blinded)
}

func checkIdentity(identity string) error {
	if len(identity) < 1 || len(identity) > MaxIdentityBytes {
		return fl.Invalid("identity", fmt.Sprintf("%d bytes", len(identity)), "must have 1 to %d", MaxIdentityBytes)
	}
	return nil
}

// find returns a key that has not expired, and the round that it is one of.
func (i *Issuer) find(id [32]byte) (*key, signer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, k := range i.keys {
		for _, s := range []signer{k.inner, k.outer} {
			if s.id == id && !i.expired(k) {
				return k, s, nil
			}
		}
	}
	return nil, signer{}, noKey(id)
}

func noKey(id [32]byte) error {
	return fmt.Errorf("%w: %w", ErrNoKey, fl.Invalid("token_key_id", fmt.Sprintf("%x", id), "must be the id of a key that has not expired"))
}

// enter notes that a call is in progress. There is one at a time for each client and key, so that
// no client can hold the places of the others.
func (i *Issuer) enter(client owner) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.calls[client]:
		return fmt.Errorf("%w: another call of this client is in progress", ErrBusy)
	case len(i.calls) >= i.cfg.MaxWaiting:
		return fmt.Errorf("%w: %d calls are in progress", ErrBusy, len(i.calls))
	}
	i.calls[client] = true
	return nil
}

func (i *Issuer) leave(client owner) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.calls, client)
}

// once signs the first message of a client, and that one again.
func (i *Issuer) once(ctx context.Context, k *key, s signer, client owner, blinded []byte) ([]byte, error) {
	k.use.RLock()
	defer k.use.RUnlock()
	if k.dropped {
		return nil, noKey(s.id)
	}
	name, sum := append([]byte(tokenPrefix), client[:]...), sha256.Sum256(blinded)
	signed, err := i.journal.Get(name)
	first := errors.Is(err, journal.ErrNotFound)
	switch {
	case first:
	case err != nil:
		return nil, err
	case string(signed) != string(sum[:]):
		return nil, fmt.Errorf("%w: %w", ErrIssued,
			fl.Invalid("blinded_message", fmt.Sprintf("one with the SHA-256 %x", sum), "must be the one that this client has had signed under this key"))
	}
	answer, err := i.sign(ctx, s, blinded)
	if err != nil || !first {
		return answer, err
	}
	var b journal.Batch
	b.Put(name, sum[:])
	if err := i.journal.Commit(&b); err != nil {
		return nil, err
	}
	if s.id == k.inner.id {
		k.issued.Add(1)
	}
	return answer, nil
}

// sign computes a signature when there is a processor for it.
func (i *Issuer) sign(ctx context.Context, s signer, blinded []byte) ([]byte, error) {
	if err := i.signing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer i.signing.Release(1)
	return blindrsa.NewSigner(s.private).BlindSign(blinded)
}
