package fl

import (
	"errors"
	"fmt"
)

// ErrBadReport is wrapped by the error that Aggregator.Add returns for bytes
// that are not a report of its round. The aggregator's state is then unchanged.
var ErrBadReport = errors.New("bad report")

// ErrNoReports is wrapped by the error that Aggregator.Estimate returns before
// the first report was added.
var ErrNoReports = errors.New("no reports")

// ErrTooFewReports is wrapped, beside a *ParamError for min_reports, by the error that
// Aggregator.Estimate returns for at least one report and fewer than Round.MinReports.
var ErrTooFewReports = errors.New("too few reports")

// ErrUnmatched is wrapped by the error that SharedMechanism.Combine returns when two servers
// released sums of the shares of different reports: one of them misses a share, or has one
// more, or one twice.
var ErrUnmatched = errors.New("shares do not match")

// ErrPolicy is wrapped by the error that Policy.Check returns for a round that
// promises less than the client demands.
var ErrPolicy = errors.New("refused by the client's policy")

// ParamError says that a parameter has a value it must not have. Every
// function of this module that validates returns it (wrapped). A server passes it on,
// and its client learns which field to mend.
type ParamError struct {
	Param string // name, as in the Round or the function's documentation
	Got   string // the offending value, printed
	Rule  string // what it must satisfy
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s: got %s, rule: %s", e.Param, e.Got, e.Rule)
}

// Invalid returns a *ParamError. Strings are quoted, everything else is
// printed as %v does.
func Invalid(param string, got any, rule string, args ...any) error {
	text := fmt.Sprint(got)
	if s, ok := got.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	return &ParamError{Param: param, Got: text, Rule: fmt.Sprintf(rule, args...)}
}
