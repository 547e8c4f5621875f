package issuer

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"

	"filippo.io/bigmod"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
)

// blindSigner computes BlindSign of RFC 9474, Section 4.3: a blinded message to the power of the private exponent.
// crypto/rsa has no such operation, because it signs hashes that it has padded itself. The arithmetic is package bigmod's, which
// was crypto/rsa's: its running time does not depend on the key or the message, so nothing is blinded a second time
// here. The Chinese remainder theorem takes the power modulo each prime, in a third of the time. It is safe for concurrent use.
type blindSigner struct {
	e        uint
	n        *bigmod.Modulus
	p, q     half
	qInverse *bigmod.Nat // 1/q modulo p
	qInN     *bigmod.Nat // q modulo n
}

// half is one of the two primes of a key, which have half of its length.
type half struct {
	*bigmod.Modulus
	d     []byte      // the private exponent modulo the prime less 1
	upper *bigmod.Nat // what a number's upper half is worth: 2 to the power of the prime's length
}

const halfBytes = admit.SignatureBytes / 2

// newBlindSigner does what each signature would have to do again. The error is about the field name of a record.
func newBlindSigner(name string, private *rsa.PrivateKey) (*blindSigner, error) {
	if len(private.Primes) != 2 {
		return nil, fl.Invalid(name, fmt.Sprintf("%d primes", len(private.Primes)), "must have 2")
	}
	private.Precompute()
	s := &blindSigner{e: uint(private.E)}
	var failed [5]error
	s.n, failed[0] = bigmod.NewModulus(private.N.Bytes())
	s.p, failed[1] = newHalf(private.Primes[0], private.Precomputed.Dp)
	s.q, failed[2] = newHalf(private.Primes[1], private.Precomputed.Dq)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, fl.Invalid(name, "other numbers", "must have two odd primes of %d bits: %v", 8*halfBytes, err)
	}
	s.qInverse, failed[3] = bigmod.NewNat().SetBytes(private.Precomputed.Qinv.Bytes(), s.p.Modulus)
	s.qInN, failed[4] = bigmod.NewNat().SetBytes(private.Primes[1].Bytes(), s.n)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, fl.Invalid(name, "other numbers", "must fit each other: %v", err)
	}
	return s, nil
}

func newHalf(prime, d *big.Int) (h half, err error) {
	if prime.BitLen() != 8*halfBytes {
		return h, fmt.Errorf("one has %d bits", prime.BitLen())
	}
	if h.Modulus, err = bigmod.NewModulus(prime.Bytes()); err != nil {
		return h, err
	}
	h.d = d.Bytes()
	upper := new(big.Int).Lsh(big.NewInt(1), 8*halfBytes)
	h.upper, err = bigmod.NewNat().SetBytes(upper.Mod(upper, prime).Bytes(), h.Modulus)
	return h, err
}

// power returns a message to the power of the private exponent, modulo the prime. bigmod's Mod goes through the message bit by bit. Each
// half of the message is below twice the prime, so that one subtraction reduces it.
func (h half) power(message []byte) (*bigmod.Nat, error) {
	c, err := bigmod.NewNat().SetOverflowingBytes(message[:halfBytes], h.Modulus)
	if err != nil {
		return nil, err
	}
	lower, err := bigmod.NewNat().SetOverflowingBytes(message[halfBytes:], h.Modulus)
	if err != nil {
		return nil, err
	}
	c.Mul(h.upper, h.Modulus).Add(lower, h.Modulus)
	return bigmod.NewNat().Exp(c, h.d, h.Modulus), nil
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
	message := c.Bytes(s.n)
	m, failedP := s.p.power(message)
	mq, failedQ := s.q.power(message)
	if err := errors.Join(failedP, failedQ); err != nil {
		return nil, err
	}
	t, err := bigmod.NewNat().SetOverflowingBytes(mq.Bytes(s.q.Modulus), s.p.Modulus)
	if err != nil {
		return nil, err
	}
	m.Sub(t, s.p.Modulus).Mul(s.qInverse, s.p.Modulus) // how often q is to be added to mq
	m.ExpandFor(s.n).Mul(s.qInN, s.n).Add(mq.ExpandFor(s.n), s.n)
	if bigmod.NewNat().ExpShortVarTime(m, s.e, s.n).Equal(c) != 1 {
		return nil, errFault
	}
	return m.Bytes(s.n), nil
}
