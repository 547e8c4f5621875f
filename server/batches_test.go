package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
)

// The content of a batch is its reports, not their bytes run together.
func TestContentOf(t *testing.T) {
	b := func(s string) []byte { return []byte(s) }
	batches := [][][]byte{
		{b("ab"), b("c")}, {b("a"), b("bc")}, {b("abc")}, {b("c"), b("ab")}, {b("ab"), b("c"), b("")}, {},
	}
	seen := map[[32]byte]int{}
	for i, reports := range batches {
		sum := contentOf(reports)
		if j, taken := seen[sum]; taken {
			t.Errorf("%q and %q have the same content", batches[j], reports)
		}
		seen[sum] = i
		if contentOf(reports) != sum {
			t.Errorf("%q has two contents", reports)
		}
	}
}

// A retry that comes while the first call with its key is still at work gets to
// know what became of it.
func TestTheSameKeyWaitsForTheFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, nil)
		first := th.begin(1, "w")
		synctest.Wait()
		second := th.begin(1, "w")
		th.waiting("first", first)
		th.waiting("second", second)

		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		th.want("a retry without patience", th.submit(gone, 1, "w"), false, codes.DeadlineExceeded)
		th.want("other reports", th.submit(t.Context(), 1, "c"), false, codes.InvalidArgument)

		th.gate <- nil
		th.want("first", th.ended("first", first), false, codes.OK)
		th.want("second", th.ended("second", second), true, codes.OK)
		th.want("CloseRound", th.ended("CloseRound", th.closing()), false, codes.OK)
		th.wantReports(1)
	})
}

// When the first call is refused, the retry takes the key over.
func TestTheSameKeyTakesOverAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, nil)
		first := th.begin(1, "w")
		synctest.Wait()
		second := th.begin(1, "w")
		synctest.Wait()
		th.gate <- fl.ErrBadReport
		th.want("first", th.ended("first", first), false, codes.InvalidArgument)
		th.waiting("second", second)
		th.gate <- nil
		th.want("second", th.ended("second", second), false, codes.OK)
		th.want("CloseRound", th.ended("CloseRound", th.closing()), false, codes.OK)
		th.wantReports(1)
	})
}
