package client_test

import (
	"errors"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
)

func openLedger(t *testing.T, epsilon float64) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.SetBudget("digits", ledger.Budget{Epsilon: epsilon, Relation: fl.ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	return l
}

// states lists how far the entries of the ledger have come.
func states(t *testing.T, l *ledger.Ledger) (out []ledger.State) {
	t.Helper()
	entries, err := l.Entries("digits")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.State)
	}
	return out
}

func equal(got []ledger.State, want ...ledger.State) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

// A report goes through the ledger step by step: nothing is encoded without a
// reservation and nothing is sent that was not spent.
func TestEveryReportIsCharged(t *testing.T) {
	l := openLedger(t, 2) // one report of the round's ε = 2
	server := &liar{status: openRound(t)}
	c := newClient(t, dial(t, server), client.Options{Ledger: l, Purpose: "digits"})
	part, err := c.Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Submit(t.Context(), [][]byte{make([]byte, 6)}); err == nil || len(server.batches) != 0 {
		t.Errorf("a report from elsewhere was sent: %v", err)
	}
	// A gradient that cannot be encoded costs nothing.
	if _, err := part.Encode(nil, make([]float64, 3), nil); err == nil {
		t.Error("a gradient of the wrong length was encoded")
	}
	report, err := part.Encode([]byte("x"), make([]float64, 20), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := states(t, l); !equal(got, ledger.Released, ledger.Reserved) {
		t.Errorf("after encoding the entries are %v", got)
	}
	if _, err := part.Encode(nil, make([]float64, 20), nil); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a second report for the round: %v, want ErrDuplicate", err)
	}
	if receipt, err := part.Submit(t.Context(), [][]byte{report[1:]}); err != nil || receipt.Accepted != 7 {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
	if got := states(t, l); !equal(got, ledger.Released, ledger.Acknowledged) || len(server.batches) != 1 {
		t.Errorf("after the submission the entries are %v, %d batches were sent", got, len(server.batches))
	}

	// The budget is gone: the next round's report is not even encoded.
	next := openRound(t)
	next.Round.Id = "s"
	server.status = next
	if part, err = c.Join(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if out, err := part.Encode(nil, make([]float64, 20), nil); !errors.Is(err, ledger.ErrBudget) || len(out) != 0 {
		t.Errorf("beyond the budget: %d bytes, %v, want ErrBudget", len(out), err)
	}
}

// A report whose submission fails stays spent, and may be sent again unchanged.
func TestAFailedSubmissionStaysSpent(t *testing.T) {
	l := openLedger(t, 2)
	server := &refuser{liar: liar{status: openRound(t)}, refusals: 1}
	part, err := newClient(t, dialRounds(t, server), client.Options{Ledger: l, Purpose: "digits"}).Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	report, err := part.Encode(nil, make([]float64, 20), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Submit(t.Context(), [][]byte{report}); status.Code(errors.Unwrap(err)) != codes.FailedPrecondition {
		t.Errorf("error %v, want the server's", err)
	}
	if got := states(t, l); !equal(got, ledger.Spent) {
		t.Errorf("after the failure the entries are %v, want spent", got)
	}
	report[0] ^= 1
	if _, err := part.Submit(t.Context(), [][]byte{report}); err == nil {
		t.Error("another report was sent on the same entry")
	}
	report[0] ^= 1
	if _, err := part.Submit(t.Context(), [][]byte{report}); err != nil {
		t.Errorf("the same report again: %v", err)
	}
	if got := states(t, l); !equal(got, ledger.Acknowledged) {
		t.Errorf("after the second attempt the entries are %v, want acknowledged", got)
	}
}

// refuser turns the first submissions down.
type refuser struct {
	liar
	refusals int
}

func (r *refuser) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	if r.refusals > 0 {
		r.refusals--
		return status.Error(codes.FailedPrecondition, "not now")
	}
	return r.liar.SubmitReports(stream)
}
