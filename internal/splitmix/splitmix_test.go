package splitmix

import "testing"

// The first outputs of SplitMix64 from state 1234567, as published with the
// generator's C implementation and many times since.
func TestKnownOutputs(t *testing.T) {
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		state += Gamma
		if got := Mix(state); got != want {
			t.Errorf("output %d: %d, want %d", i, got, want)
		}
	}
}

func TestKeyedDependsOnAllItsArguments(t *testing.T) {
	base := Keyed(1, 2, 3)
	if base == Keyed(2, 2, 3) || base == Keyed(1, 3, 3) || base == Keyed(1, 2, 4) {
		t.Error("two keys or seeds start the same stream")
	}
}
