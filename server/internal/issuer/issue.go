package issuer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filippo.io/bigmod"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// MaxMessages is the largest number of messages of one call: two for each of 32 rounds.
const MaxMessages = 64

// Message is a blinded message of admit.Request.BlindedMessage, and the id of the key that shall sign it.
type Message struct {
	KeyID   [32]byte
	Blinded []byte
}

// Issue returns the blind signatures of a client's messages, each under another key, after the record of them
// is durable. identity distinguishes clients, see Admit. All messages are signed or none. The
// same message again gets the same signature; another one of the same client is ErrIssued. The
// error wraps ErrNoKey for a key that there is not, ErrBusy when it may be tried again soon, and
// journal.ErrFull when there is no room: nothing was signed then.
//
// Cost: about 1 ms of computing for each message, and one synchronised write, which calls at the same time share. As many
// messages are signed at one time as there are processors.
func (i *Issuer) Issue(ctx context.Context, identity string, messages ...Message) (_ [][]byte, err error) {
	defer prefix.Error(&err, "issuer: issue")
	if err := checkIdentity(identity); err != nil {
		return nil, err
	}
	if n := len(messages); n < 1 || n > MaxMessages {
		return nil, fl.Invalid("token_key_ids", fmt.Sprintf("%d keys", n), "must be 1 to %d", MaxMessages)
	}
	if err := i.journal.Broken(); err != nil {
		return nil, err
	}
	wanted := make([]*signing, len(messages))
	for n, m := range messages {
		if wanted[n], err = i.read(identity, m); err != nil {
			return nil, numbered(n, len(messages), err)
		}
		if slices.ContainsFunc(wanted[:n], func(s *signing) bool { return s.client == wanted[n].client }) {
			return nil, numbered(n, len(messages), fl.Invalid("token_key_ids", fmt.Sprintf("%x twice", m.KeyID), "must be different keys"))
		}
	}
	if err := i.enter(wanted); err != nil {
		return nil, err
	}
	defer i.leave(wanted)
	return i.once(ctx, wanted)
}

// numbered says which message of several an error is about.
func numbered(n, of int, err error) error {
	if of == 1 {
		return err
	}
	return fmt.Errorf("message %d of %d: %w", n+1, of, err)
}

func checkIdentity(identity string) error {
	if len(identity) < 1 || len(identity) > MaxIdentityBytes {
		return fl.Invalid("identity", fmt.Sprintf("%d bytes", len(identity)), "must have 1 to %d", MaxIdentityBytes)
	}
	return nil
}

// signing is a message on its way to a signature.
type signing struct {
	key    *key
	signer *signer
	client owner
	sum    [sha256.Size]byte // of the message
	number *bigmod.Nat
	first  bool // the client has had nothing signed under this key
	answer []byte
}

// read finds the key of a message and checks the message.
func (i *Issuer) read(identity string, m Message) (*signing, error) {
	if n := len(m.Blinded); n != admit.SignatureBytes {
		return nil, fl.Invalid("blinded_message", fmt.Sprintf("%d bytes", n), "must have %d", admit.SignatureBytes)
	}
	k, s, err := i.find(m.KeyID)
	if err != nil {
		return nil, err
	}
	number, err := s.number(m.Blinded)
	if err != nil {
		return nil, err
	}
	return &signing{key: k, signer: s, client: k.owner(s, identity), sum: sha256.Sum256(m.Blinded), number: number}, nil
}

// find returns a key that has not expired, and the round that it is one of.
func (i *Issuer) find(id [32]byte) (*key, *signer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, k := range i.keys {
		for _, s := range []*signer{k.inner, k.outer} {
			if s.id == id && !i.expired(k) {
				return k, s, nil
			}
		}
	}
	return nil, nil, noKey(id)
}

func noKey(id [32]byte) error {
	return fmt.Errorf("%w: %w", ErrNoKey, fl.Invalid("token_key_id", fmt.Sprintf("%x", id), "must be the id of a key that has not expired"))
}

// enter notes that messages are in progress. There is one at a time for each client and key, so that
// no client can hold the places of the others.
func (i *Issuer) enter(wanted []*signing) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.calls)+len(wanted) > i.cfg.MaxWaiting {
		return fmt.Errorf("%w: %d messages are in progress", ErrBusy, len(i.calls))
	}
	for _, s := range wanted {
		if i.calls[s.client] {
			return fmt.Errorf("%w: another call of this client is in progress", ErrBusy)
		}
	}
	for _, s := range wanted {
		i.calls[s.client] = true
	}
	return nil
}

func (i *Issuer) leave(wanted []*signing) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range wanted {
		delete(i.calls, s.client)
	}
}

// once signs the first message of a client under each key, and that one again.
func (i *Issuer) once(ctx context.Context, wanted []*signing) ([][]byte, error) {
	defer hold(wanted)()
	var records journal.Batch
	for n, s := range wanted {
		if err := i.record(s, &records); err != nil {
			return nil, numbered(n, len(wanted), err)
		}
	}
	if err := i.signAll(ctx, wanted); err != nil {
		return nil, err
	}
	if len(records.Changes()) > 0 {
		if err := i.journal.Commit(&records); err != nil {
			return nil, err
		}
	}
	answers := make([][]byte, len(wanted))
	for n, s := range wanted {
		answers[n] = s.answer
		if s.first && s.signer == s.key.inner {
			s.key.issued.Add(1)
		}
	}
	return answers, nil
}

// hold keeps keys from being dropped until the function that it returns is called.
func hold(wanted []*signing) (release func()) {
	keys := inOrder(wanted)
	for _, k := range keys {
		k.use.RLock()
	}
	return func() {
		for _, k := range keys {
			k.use.RUnlock()
		}
	}
}

// inOrder returns the keys of messages, each once, in the order in which all calls take them. In two orders two calls and
// two drops could wait for each other.
func inOrder(wanted []*signing) (keys []*key) {
	for _, s := range wanted {
		keys = append(keys, s.key)
	}
	slices.SortFunc(keys, func(a, b *key) int { return strings.Compare(a.record.RoundID, b.record.RoundID) })
	return slices.Compact(keys)
}

// record adds the record of a message that is the first one to b. It refuses another one.
func (i *Issuer) record(s *signing, b *journal.Batch) error {
	if s.key.dropped {
		return noKey(s.signer.id)
	}
	name := append([]byte(tokenPrefix), s.client[:]...)
	signed, err := i.journal.Get(name)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		s.first = true
		b.Put(name, s.sum[:])
		return nil
	case err != nil:
		return err
	case string(signed) != string(s.sum[:]):
		return fmt.Errorf("%w: %w", ErrIssued,
			fl.Invalid("blinded_message", fmt.Sprintf("one with the SHA-256 %x", s.sum), "must be the one that this client has had signed under this key: only the run that has that token, or a later one with its ledger (hushgrad encode --ledger FILE), can send its report"))
	}
	return nil
}

// signAll computes the signatures, each when there is a processor for it.
func (i *Issuer) signAll(ctx context.Context, wanted []*signing) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range wanted {
		group.Go(func() (err error) {
			if err := i.signing.Acquire(ctx, 1); err != nil {
				return err
			}
			defer i.signing.Release(1)
			s.answer, err = s.signer.sign(s.number)
			return err
		})
	}
	return group.Wait()
}
