package claims

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A call waits for the call that has one of its keys, holds nothing meanwhile, and gives up with its
// context.
func TestTwoCallsNeverHaveOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Set[string]
		first, err := s.Take(t.Context(), []string{"a", "b", "b"})
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan func(), 1)
		go func() {
			release, err := s.Take(t.Context(), []string{"c", "b"})
			if err != nil {
				t.Error(err)
			}
			waiting <- release
		}()
		synctest.Wait()
		if len(waiting) > 0 {
			t.Error("two calls have b")
		}
		third, err := s.Take(t.Context(), []string{"c"}) // the call that waits has not got it
		if err != nil {
			t.Fatal(err)
		}
		third()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Take(ctx, []string{"d", "a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("a call whose caller is gone: %v", err)
		}
		first()
		(<-waiting)()
		if len(s.byKey) != 0 {
			t.Errorf("%d keys are left", len(s.byKey))
		}
	})
}
