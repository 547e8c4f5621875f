package serving

import (
	"context"
	"crypto/rand"
	"crypto/rsa"

	"github.com/cloudflare/circl/blindsign/blindrsa"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/server/admit"
)

// issuer signs the tokens of rounds that ask for them.
type issuer struct {
	private *rsa.PrivateKey // of public
	public  []byte          // fl.Round.IssuerKey
	outer   []byte          // fl.Round.OuterIssuerKey, whose tokens no server sees
	jobs    int
	made    map[[32]byte][]byte // tokens by the digest of the round
}

func newIssuer(jobs int) (*issuer, error) {
	i := &issuer{jobs: jobs, made: map[[32]byte][]byte{}}
	for _, public := range []*[]byte{&i.outer, &i.public} {
		var err error
		if i.private, err = rsa.GenerateKey(rand.Reader, admit.KeyBits); err != nil {
			return nil, err
		}
		if *public, err = admit.MarshalKey(&i.private.PublicKey); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// tokens returns n tokens of a round, one after the other. It takes about 2 ms for each, once.
func (i *issuer) tokens(ctx context.Context, digest [32]byte, n int) ([]byte, error) {
	if made := i.made[digest]; len(made) == n*admit.TokenBytes {
		return made, nil
	}
	all := make([]byte, n*admit.TokenBytes)
	signer := blindrsa.NewSigner(i.private)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(i.jobs)
	for k := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			request, err := admit.NewRequest(i.public, digest)
			if err != nil {
				return err
			}
			signature, err := signer.BlindSign(request.BlindedMessage())
			if err != nil {
				return err
			}
			token, err := request.Finalize(signature)
			copy(all[k*admit.TokenBytes:], token)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	i.made[digest] = all
	return all, nil
}
