package mechanisms

import (
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// Auto chooses among the sparse mechanisms, for those who do not want to compare coco, collision and
// signsketch themselves.
//
// fl.Complete turns a round of Auto into one of the mechanism with the smallest exact squared
// error of the mean, each at its best parameters. The choice uses public quantities only:
// dimension, sparsity, ε and the columns asked for. The completed round names the
// mechanism.
const Auto = "auto"

func init() { fl.Register(Auto, autoFactory{}) }

type autoFactory struct{}

var _ fl.Completer = autoFactory{}

// Schemes returns the mechanisms that Auto chooses from. Of equal ones the first is taken.
func Schemes() []*sparse.Scheme {
	return []*sparse.Scheme{coco.Scheme, collision.Scheme, signsketch.Scheme}
}

// Columns implements fl.ColumnLister: what the best mechanisms for more than the mean
// estimate.
func (autoFactory) Columns() []string { return coco.Scheme.Columns() }

// Open refuses: only a completed round describes a mechanism.
func (autoFactory) Open(r fl.Round) (fl.Mechanism, error) {
	return nil, fl.Invalid("mechanism", r.Mechanism, "must be completed to the mechanism it stands for, see fl.Complete")
}

// Complete implements fl.Completer: it names the mechanism and lets it fill its own
// parameters. The only parameter of the round is sparsity.
func (autoFactory) Complete(r fl.Round) (fl.Round, error) {
	sparsity, err := sparse.ReadSparsity(r, sparse.ParamSparsity)
	if err != nil {
		return fl.Round{}, err
	}
	best, err := Best(sparse.Point{Dim: r.Dim, Sparsity: sparsity, Epsilon: r.Epsilon}, r.Columns...)
	if err != nil {
		return fl.Round{}, err
	}
	r.Mechanism = best.Name()
	return best.Complete(r)
}

// Best returns the mechanism with the smallest squared error of the mean, among those that
// estimate all the given columns. The number of slots and the hash family of p are ignored. The
// error is a *fl.ParamError for columns that no mechanism estimates, and for a point that none
// can serve. Cost: one call of Scheme.LeastMSE for each mechanism.
func Best(p sparse.Point, columns ...string) (*sparse.Scheme, error) {
	p.Hash = sparse.HashGF2
	var best *sparse.Scheme
	var failed error
	least := 0.0
	for _, s := range Schemes() {
		if slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(s.Columns(), c) }) {
			continue
		}
		switch mse, err := s.LeastMSE(p); {
		case err != nil:
			failed = err
		case best == nil || mse < least:
			best, least = s, mse
		}
	}
	switch {
	case best != nil:
		return best, nil
	case failed != nil:
		return nil, failed
	}
	return nil, fl.Invalid("columns", strings.Join(columns, ", "), "must be among what one mechanism estimates beside the mean: %s",
		strings.Join(coco.Scheme.Columns(), ", "))
}
