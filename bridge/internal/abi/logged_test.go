package abi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// A round is refused unless the payload proves that it is in the log of this key.
func TestARoundIsProvedToBeInTheLog(t *testing.T) {
	private, public, err := translog.NewKey("log.test", false)
	if err != nil {
		t.Fatal(err)
	}
	_, witness, err := translog.NewKey("witness.test", true)
	if err != nil {
		t.Fatal(err)
	}
	book, err := translog.Open(t.TempDir(), private, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := newCaller(t)
	made, description := c.must("round.new", small, nil)
	_, other := c.must("round.new", strings.Replace(small, `"r"`, `"other"`, 1), nil)
	var proofs [2][]byte
	for i, bytes := range [][]byte{description, other} {
		var r fl.Round
		if err := r.UnmarshalBinary(bytes); err != nil {
			t.Fatal(err)
		}
		entries, err := translog.RoundEntries(r, fl.Guarantee{}, time.Now())
		if err == nil {
			err = book.Append(entries...)
		}
		digest, _ := r.Digest()
		if err == nil {
			proofs[i], err = book.Proof(digest)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	args := func(key, witnesses string) string {
		return fmt.Sprintf(`{"round": %v, "log_key": %q, "witnesses": [%s]}`, made["round"], key, witnesses)
	}
	c.must("logged", args(public, ""), proofs[0])
	for name, a := range map[string]struct {
		args  string
		proof []byte
		kind  string
		says  string
	}{
		"no proof":       {args(public, ""), nil, KindPolicy, "log_proof"},
		"another round":  {args(public, ""), proofs[1], KindPolicy, "must be about the round"},
		"a changed byte": {args(public, ""), []byte(strings.Replace(string(proofs[0]), "log.test\n", "log.tesu\n", 1)), KindPolicy, "log.tesu"},
		"no witness":     {args(public, fmt.Sprintf("%q", witness)), proofs[0], KindPolicy, "no signature of witness.test"},
		"no key":         {args("k", ""), proofs[0], KindParam, "log_key"},
	} {
		if _, _, failed := c.ask("logged", a.args, a.proof); failed == nil || failed.Kind != a.kind || !strings.Contains(failed.Message, a.says) {
			t.Errorf("%s: %+v, want %s with %q", name, failed, a.kind, a.says)
		}
	}
}
