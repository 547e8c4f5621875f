// Package auto chooses among the sparse mechanisms. A round that asks for the
// mechanism "auto" is completed to the one with the smallest exact squared error of
// the mean, each at its best parameters, from public quantities only (dimension,
// sparsity, ε); the completed round names it.
package auto

import (
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "auto"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

var _ fl.Completer = factory{}

// Open refuses: only a completed round describes a mechanism.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	return nil, fl.Invalid("mechanism", r.Mechanism, "must be completed to the mechanism it stands for, see fl.Complete")
}

// Complete names the mechanism and lets it fill its own parameters. The only
// parameter it takes is sparsity.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	sparsity, err := sparse.ReadSparsity(r, sparse.ParamSparsity)
	if err != nil {
		return fl.Round{}, err
	}
	if r.Mechanism, err = Best(r.Dim, sparsity, r.Epsilon); err != nil {
		return fl.Round{}, err
	}
	return fl.Complete(r)
}

// Best returns the name of the mechanism with the smallest squared error of the
// mean. Of equal ones it takes the first of coco, collision, signsketch.
func Best(dim, sparsity int, epsilon float64) (string, error) {
	p := sparse.Point{Dim: dim, Sparsity: sparsity, Epsilon: epsilon, Hash: slothash.Families()[0]}
	name, least := "", 0.0
	var failed error
	for _, c := range []struct {
		name string
		mse  func() (float64, error)
	}{
		{coco.Name, func() (float64, error) { return sparse.LeastMSE(p, coco.BestSlots, coco.MSE) }},
		{collision.Name, func() (float64, error) { return sparse.LeastMSE(p, collision.BestSlots, collision.MSE) }},
		{signsketch.Name, func() (float64, error) { return signsketch.MSE(dim, sparsity, epsilon) }},
	} {
		switch v, err := c.mse(); {
		case err != nil:
			failed = err
		case name == "" || v < least:
			name, least = c.name, v
		}
	}
	if name == "" {
		return "", failed
	}
	return name, nil
}
