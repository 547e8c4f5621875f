package abi

import (
	"errors"
	"io/fs"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// Kinds of errors in an answer. KindParam is any other error with a parameter, and
// KindOther any without.
const (
	KindPolicy        = "policy"          // fl.ErrPolicy
	KindBadReport     = "bad-report"      // fl.ErrBadReport
	KindNoReports     = "no-reports"      // fl.ErrNoReports
	KindTooFewReports = "too-few-reports" // fl.ErrTooFewReports
	KindInfeasible    = "infeasible"      // plan.ErrInfeasible
	KindBudget        = "budget"          // ledger.ErrBudget
	KindCharged       = "charged"         // ledger.ErrDuplicate
	KindLedgerInUse   = "ledger-in-use"   // ledger.ErrLocked
	KindLedgerState   = "ledger-state"    // ledger.ErrState, ledger.ErrUnknown
	KindLedger        = "ledger"          // a file that is missing, no ledger, damaged, replaced or not writable
	KindParam         = "param"
	KindOther         = "other"
)

// kinds are looked through in this order: the first error that is wrapped decides.
var kinds = []struct {
	err  error
	kind string
}{
	{fl.ErrPolicy, KindPolicy},
	{fl.ErrBadReport, KindBadReport},
	{fl.ErrNoReports, KindNoReports},
	{fl.ErrTooFewReports, KindTooFewReports},
	{plan.ErrInfeasible, KindInfeasible},
	{ledger.ErrBudget, KindBudget},
	{ledger.ErrDuplicate, KindCharged},
	{ledger.ErrLocked, KindLedgerInUse},
	{ledger.ErrState, KindLedgerState},
	{ledger.ErrUnknown, KindLedgerState},
	{ledger.ErrNotLedger, KindLedger},
	{ledger.ErrDamaged, KindLedger},
	{ledger.ErrFailed, KindLedger},
	{ledger.ErrReplaced, KindLedger},
	{fs.ErrNotExist, KindLedger},
	{fs.ErrPermission, KindLedger},
	{fs.ErrClosed, KindLedger},
}

// failure is an error in an answer.
type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
	Got     string `json:"got,omitempty"`
	Rule    string `json:"rule,omitempty"`
}

func failureOf(err error) *failure {
	f := &failure{Kind: KindOther, Message: err.Error()}
	var param *fl.ParamError
	if errors.As(err, &param) {
		f.Kind, f.Param, f.Got, f.Rule = KindParam, param.Param, param.Got, param.Rule
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			f.Kind = k.kind
			break
		}
	}
	return f
}
