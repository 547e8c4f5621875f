package translog

import (
	"errors"
	"strings"
	"testing"
)

// A proof is under the checkpoint that witnesses have signed, also when the log has grown since. A checkpoint of
// another log, and one without a witness's signature, are not taken.
func TestProofsAreUnderWhatWitnessesHaveSigned(t *testing.T) {
	key, own := newSigning(t, "test.example/log", false), newSigning(t, "witness.example", true)
	l := openLog(t, t.TempDir(), key, own.public)
	w, err := NewWitness("key", key.public, "own", own.private)
	must(t, err)
	must(t, l.Append(rounds(0, 3)...))
	signed, err := w.Cosign(l.now)
	must(t, err)
	if err := l.Cosign(l.now.Signed); err == nil {
		t.Error("a checkpoint that no witness has signed was taken")
	}
	must(t, l.Cosign(signed))
	must(t, l.Append(rounds(3, 5)...))
	keys := keysOf(t, key, own.public)
	for n, want := range map[int]error{1: nil, 4: ErrUnlogged} {
		proof, err := l.Proof(round(n).SHA256)
		must(t, err)
		if _, err := keys.Check(proof, round(n).SHA256); !errors.Is(err, want) {
			t.Errorf("round %d: %v, want %v", n, err, want)
		}
	}
	other := openLog(t, t.TempDir(), key, own.public)
	must(t, other.Append(rounds(10, 12)...))
	fork, err := w.Cosign(other.now)
	must(t, err)
	if err := l.Cosign(fork); !errors.Is(err, ErrFork) {
		t.Errorf("a checkpoint of another log: %v", err)
	}
}

// Each witness is known by what it has signed itself, also when others have signed more.
func TestWhatEachWitnessHasSignedIsKnown(t *testing.T) {
	key, a, b := newSigning(t, "test.example/log", false), newSigning(t, "witness.example", true), newSigning(t, "witness.example", true)
	l := openLog(t, t.TempDir(), key, a.public, b.public)
	name := func(s signing) string { return strings.Join(strings.Split(s.public, "+")[:2], "+") }
	sign := func(s signing) {
		w, err := NewWitness("key", key.public, "own", s.private)
		must(t, err)
		signed, err := w.Cosign(l.now)
		must(t, err)
		must(t, l.Cosign(signed))
	}
	want := func(ofA, ofB int64) {
		t.Helper()
		if got := l.Witnessed(); len(got) != 2 || got[name(a)] != ofA || got[name(b)] != ofB {
			t.Errorf("%v, want %d and %d", got, ofA, ofB)
		}
	}
	want(0, 0)
	must(t, l.Append(rounds(0, 3)...))
	sign(a)
	want(3, 0)
	must(t, l.Append(rounds(3, 5)...))
	want(3, 0)
	sign(b)
	want(3, 5)
	sign(a)
	want(5, 5)
}

// Old checkpoints that somebody sends again, more than the log remembers, leave proofs under the newest one.
func TestOldSignaturesTakeNothingAway(t *testing.T) {
	key, own := newSigning(t, "test.example/log", false), newSigning(t, "witness.example", true)
	l := openLog(t, t.TempDir(), key, own.public)
	w, err := NewWitness("key", key.public, "own", own.private)
	must(t, err)
	var signed [][]byte
	for n := range maxCosigned + 2 {
		must(t, l.Append(rounds(n, n+1)...))
		one, err := w.Cosign(l.now)
		must(t, err)
		signed = append(signed, one)
	}
	must(t, l.Append(rounds(maxCosigned+2, maxCosigned+3)...)) // no witness has seen it
	must(t, l.Cosign(signed[maxCosigned+1]))
	for _, old := range signed[:maxCosigned+1] {
		must(t, l.Cosign(old))
	}
	last := round(maxCosigned + 1)
	proof, err := l.Proof(last.SHA256)
	must(t, err)
	keys := keysOf(t, key, own.public)
	if _, err := keys.Check(proof, last.SHA256); err != nil {
		t.Errorf("after old signatures: %v", err)
	}
}
