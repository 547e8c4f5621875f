package abi

import (
	"errors"

	"github.com/hushgrad/hushgrad/fl"
)

// Kinds of errors in an answer. KindParam is any other error with a parameter, and
// KindOther any without.
const (
	KindPolicy        = "policy"          // fl.ErrPolicy
	KindBadReport     = "bad-report"      // fl.ErrBadReport
	KindNoReports     = "no-reports"      // fl.ErrNoReports
	KindTooFewReports = "too-few-reports" // fl.ErrTooFewReports
	KindInfeasible    = "infeasible"      // plan.ErrInfeasible
	KindNoise         = "noise"           // plan.ErrNoise
	KindBudget        = "budget"          // ledger.ErrBudget
	KindCharged       = "charged"         // ledger.ErrDuplicate
	KindLedgerInUse   = "ledger-in-use"   // ledger.ErrLocked
	KindLedgerState   = "ledger-state"    // ledger.ErrState, ledger.ErrUnknown
	KindLedger        = "ledger"          // a file that is missing, no ledger, damaged, replaced or not writable
	KindParam         = "param"
	KindOther         = "other"
)

// kind is how an error is called in an answer.
type kind struct {
	err  error
	name string
}

// kinds are looked through in this order: the first error that is wrapped decides.
var kinds = []kind{
	{fl.ErrPolicy, KindPolicy},
	{fl.ErrBadReport, KindBadReport},
	{fl.ErrNoReports, KindNoReports},
	{fl.ErrTooFewReports, KindTooFewReports},
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
	if param, ok := errors.AsType[*fl.ParamError](err); ok {
		f.Kind, f.Param, f.Got, f.Rule = KindParam, param.Param, param.Got, param.Rule
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			f.Kind = k.name
			break
		}
	}
	return f
}
