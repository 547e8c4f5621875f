package admit

import (
	"bytes"
	"errors"
	"testing"
)

func marshal(t testing.TB, r *Request) []byte {
	t.Helper()
	data, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// After a crash a client asks with the same message and gets the same token.
func TestRequestsComeBackAsTheyWere(t *testing.T) {
	key, der := testKey(t)
	digest := [32]byte{1}
	r := request(t, der, digest)
	again, err := ParseRequest(marshal(t, r), der, digest)
	if err != nil {
		t.Fatal(err)
	}
	if again.KeyID() != r.KeyID() || !bytes.Equal(again.BlindedMessage(), r.BlindedMessage()) || !bytes.Equal(marshal(t, again), marshal(t, r)) {
		t.Error("another request came back")
	}
	answer := sign(t, key, r.BlindedMessage())
	if token := finalize(t, again, answer); !bytes.Equal(token, finalize(t, r, answer)) {
		t.Error("the request that came back makes another token")
	}
}

func TestRequestsAreRefused(t *testing.T) {
	_, der := testKey(t)
	digest := [32]byte{1}
	data := marshal(t, request(t, der, digest))
	change := func(at int, value ...byte) []byte {
		b := bytes.Clone(data)
		copy(b[at:], value)
		return b
	}
	const blind = 1 + inputBytes + saltBytes
	for name, c := range map[string]struct {
		data  []byte
		param string
	}{
		"nothing": {nil, "request"}, "cut": {data[:len(data)-1], "request"}, "longer": {append(bytes.Clone(data), 0), "request"},
		"another version":   {change(0, 2), "version"},
		"another type":      {change(1, 0xFF), "request"},
		"another challenge": {change(1+2+nonceBytes, data[1+2+nonceBytes]^1), "request"},
		"another key":       {change(1+2+nonceBytes+32, data[1+2+nonceBytes+32]^1), "request"},
		"another nonce":     {change(3, data[3]^1), "request"},
		"another salt":      {change(1+inputBytes, data[1+inputBytes]^1), "request"},
		"another sum":       {change(len(data)-1, data[len(data)-1]^1), "request"},
		"no blind":          {change(blind, make([]byte, SignatureBytes)...), "blind"},
		"a blind too large": {change(blind, bytes.Repeat([]byte{0xFF}, SignatureBytes)...), "blind"},
		"the modulus":       {change(blind, der[len(keyHead):][:SignatureBytes]...), "blind"},
	} {
		_, err := ParseRequest(c.data, der, digest)
		wantParam(t, name, err, c.param, false)
	}
	_, err := ParseRequest(data, der, [32]byte{2})
	wantParam(t, "another round", err, "request", false)
}

// A blinding factor that is not prime to the modulus has no inverse.
func TestBlindsWithoutAnInverseAreRefused(t *testing.T) {
	key, der := testKey(t)
	r := request(t, der, [32]byte{1})
	s := r.secrets
	key.Primes[0].FillBytes(s.blind[:])
	_, err := newRequest(r.verifier, s)
	wantParam(t, "a prime factor", err, "blind", false)
}

func TestWrongAnswersMakeNoToken(t *testing.T) {
	key, der := testKey(t)
	r, other := request(t, der, [32]byte{1}), request(t, der, [32]byte{1})
	answer := sign(t, key, r.BlindedMessage())
	answer[7] ^= 1
	for name, bad := range map[string][]byte{
		"nothing": nil, "cut": answer[1:], "longer": append([]byte{0}, answer...), "zero": make([]byte, SignatureBytes),
		"another number": answer, "another request's": sign(t, key, other.BlindedMessage()),
	} {
		token, err := r.Finalize(bad)
		if wantParam(t, name, err, "blind_signature", true); token != nil {
			t.Errorf("%s: a token came with the error", name)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	_, der := testKey(f)
	f.Add(marshal(f, request(f, der, [32]byte{1})))
	f.Add([]byte{requestVersion})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseRequest(data, der, [32]byte{1})
		if err != nil {
			return
		}
		if !bytes.Equal(marshal(t, r), data) {
			t.Fatalf("%x comes back as %x", data, marshal(t, r))
		}
	})
}

// Whatever the issuer answers, there is the one token or none.
func FuzzFinalize(f *testing.F) {
	file := readIssuances(f)
	r, want := file.Vectors[0].request(f, file.PkS), file.Vectors[0].Token
	f.Add([]byte(file.Vectors[0].TokenResponse))
	f.Fuzz(func(t *testing.T, answer []byte) {
		token, err := r.Finalize(answer)
		if err == nil && !bytes.Equal(token, want) || err != nil && !errors.Is(err, ErrToken) {
			t.Fatalf("%x: %v", answer, err)
		}
	})
}
