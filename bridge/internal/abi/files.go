//go:build !js

package abi

import (
	"io/fs"
	"maps"

	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// A browser has no files for a ledger, and what plans, verifies and reads proofs of a log is not needed there.
func init() {
	maps.Copy(operations, map[string]operation{
		"ledger": reading(openLedger), "budget": on(setBudget), "spent": on(spent), "reserve": on(reserve),
		"spend": on(spend), "unspend": on(unspend), "receipt": on(receipt),
		"account": on(account), "plan": reading(makePlan), "compare": reading(compareTrusts), "verify": on(verifyRound),
		"logged": on(checkLogged),
	})
	kinds = append(kinds,
		kind{plan.ErrInfeasible, KindInfeasible},
		kind{plan.ErrNoise, KindNoise},
		kind{ledger.ErrBudget, KindBudget},
		kind{ledger.ErrDuplicate, KindCharged},
		kind{ledger.ErrLocked, KindLedgerInUse},
		kind{ledger.ErrState, KindLedgerState},
		kind{ledger.ErrUnknown, KindLedgerState},
		kind{ledger.ErrNotLedger, KindLedger},
		kind{ledger.ErrDamaged, KindLedger},
		kind{ledger.ErrFailed, KindLedger},
		kind{ledger.ErrReplaced, KindLedger},
		kind{fs.ErrNotExist, KindLedger},
		kind{fs.ErrPermission, KindLedger},
		kind{fs.ErrClosed, KindLedger},
	)
}
