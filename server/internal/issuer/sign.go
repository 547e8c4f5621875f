package issuer

import (
	"crypto/rsa"
	"errors"
	"fmt"

	"filippo.io/bigmod"

	"github.com/hushgrad/hushgrad/fl"
)

// blindSigner computes BlindSign of RFC 9474, Section 4.3: a blinded message to the power of the private exponent.
// crypto/rsa has no such operation, because it signs hashes that it has padded itself. The arithmetic is package bigmod's, which
// was crypto/rsa's: its running time does not depend on the key or the message, so nothing is blinded a second time
// here. The Chinese remainder theorem takes the power modulo each prime, in a third of the time. It is safe for concurrent use.
type blindSigner struct {
	e        uint
	n, p, q  *bigmod.Modulus
	dp, dq   []byte      // private exponents modulo p-1 and q-1
	qInverse *bigmod.Nat // 1/q modulo p
	qInN     *bigmod.Nat // q modulo n
}

// newBlindSigner does what each signature would have to do again. The error is about the field name of a record.
func newBlindSigner(name string, private *rsa.PrivateKey) (*blindSigner, error) {
	if len(private.Primes) != 2 {
		return nil, fl.Invalid(name, fmt.Sprintf("%d primes", len(private.Primes)), "must have 2")
	}
	private.Precompute()
	p, q := private.Primes[0].Bytes(), private.Primes[1].Bytes()
	s := &blindSigner{e: uint(private.E), dp: private.Precomputed.Dp.Bytes(), dq: private.Precomputed.Dq.Bytes()}
	var failed [5]error
	s.n, failed[0] = bigmod.NewModulus(private.N.Bytes())
	s.p, failed[1] = bigmod.NewModulus(p)
	s.q, failed[2] = bigmod.NewModulus(q)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, fl.Invalid(name, "other numbers", "must have odd primes: %v", err)
	}
	s.qInverse, failed[3] = bigmod.NewNat().SetBytes(private.Precomputed.Qinv.Bytes(), s.p)
	s.qInN, failed[4] = bigmod.NewNat().SetBytes(q, s.n)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, fl.Invalid(name, "other numbers", "must fit each other: %v", err)
	}
	return s, nil
}

// number reads a blinded message of admit.SignatureBytes bytes.
func (s *blindSigner) number(blinded []byte) (*bigmod.Nat, error) {
	c, err := bigmod.NewNat().SetBytes(blinded, s.n)
	if err != nil || c.IsZero() == 1 {
		return nil, fl.Invalid("blinded_message", "a number out of range", "must be above 0 and below the modulus")
	}
	return c, nil
}

// errFault is a signature that is none: the processor, the memory or the key is damaged.
var errFault = errors.New("a signature was computed wrongly, and is not given out: check this machine's memory")

// sign returns the signature of a number. A wrong one modulo one prime alone would give the key away, so it is checked.
func (s *blindSigner) sign(c *bigmod.Nat) ([]byte, error) {
	t := bigmod.NewNat()
	m := bigmod.NewNat().Exp(t.Mod(c, s.p), s.dp, s.p)
	mq := bigmod.NewNat().Exp(bigmod.NewNat().Mod(c, s.q), s.dq, s.q)
	m.Sub(t.Mod(mq, s.p), s.p).Mul(s.qInverse, s.p) // how often q is to be added to mq
	m.ExpandFor(s.n).Mul(s.qInN, s.n).Add(mq.ExpandFor(s.n), s.n)
	if bigmod.NewNat().ExpShortVarTime(m, s.e, s.n).Equal(c) != 1 {
		return nil, errFault
	}
	return m.Bytes(s.n), nil
}
