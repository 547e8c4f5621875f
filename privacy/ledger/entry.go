package ledger

import (
	"fmt"
	"strconv"
	"time"
)

// ID names an entry of a ledger: 1, 2, 3, … in the order of reservation.
type ID uint64

// State is how far a report has come.
type State uint8

const (
	// Reserved: the report may have been encoded; it has not left.
	Reserved State = 1
	// Spent: the report may have left.
	Spent State = 2
	// Acknowledged: the server has confirmed the report.
	Acknowledged State = 3
	// Released: nothing left and nothing will; the charge does not count.
	Released State = 4
)

func (s State) String() string {
	switch s {
	case Reserved:
		return "reserved"
	case Spent:
		return "spent"
	case Acknowledged:
		return "acknowledged"
	case Released:
		return "released"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Entry is one charge and what became of it. Times that have not come are zero.
type Entry struct {
	ID     ID
	State  State
	Charge Charge

	ReservedAt, SpentAt, ReleasedAt, AcknowledgedAt time.Time

	// Receipt is the server's acknowledgement, as given to Ledger.Receipt.
	Receipt string
}

// ended is true of an entry that goes nowhere any more.
func (e Entry) ended() bool { return e.State == Acknowledged || e.State == Released }

func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }
