package plan

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// shift bounds how far the liars that a run counts on move the mean of every round: the L2 norm, in units of the gradient. All of them may agree on
// one direction in all rounds, so that more rounds do not help.
func (t Training) shift(c design, p sparse.Point, scale float64) (float64, error) {
	if t.Liars == 0 {
		return 0, nil
	}
	far, err := shiftOf(t.Liars, fl.Round{
		ID: "plan", Mechanism: c.Name(), Dim: p.Dim, Scale: scale, Epsilon: p.Epsilon, Relation: fl.ReplaceOne, MinReports: 2, PublicSeed: [32]byte{1}, Params: c.Params(p),
	})
	if _, whole := c.(ranked); !whole {
		far *= spread(p.Slots)
	}
	return far, err
}

// spread is how much further than one coordinate a report of a sparse mechanism moves a sum along other directions, about. A report hits each coordinate with
// the probability 2/t, and a liar takes the best of 2^32 seeds and t slots.
func spread(slots int) float64 {
	tries := 32*math.Ln2 + math.Log(float64(slots))
	return math.Max(1, math.Sqrt(2*tries*math.Min(1, 2/float64(slots))))
}

// shiftOf is the shift of a share of liars in a round of any mechanism that bounds what they do.
func shiftOf(liars float64, r fl.Round) (float64, error) {
	_, opened, err := fl.Complete(r)
	if err != nil {
		return 0, err
	}
	m, ok := opened.(fl.Swayer)
	if !ok {
		return 0, fl.Invalid("liars", liars, "must be 0 with %s: nothing bounds how far one client who lies moves its mean", r.Mechanism)
	}
	return liars * m.Sway(), nil
}

// sway says how far clients who lie move a mean.
func (run *Run) sway() string {
	if run.Liars > 0 {
		if remark := Sway(run.Template, run.Opened, run.Liars); remark != "" {
			return remark + ". The plan counts on them"
		}
	}
	return Sway(run.Template, run.Opened, 0.01)
}

// Sway says how far a share of clients who lie moves a round's mean, and which share moves it by the clip. m is the round's mechanism,
// from fl.Open. The text is empty where the round promises no privacy.
func Sway(r fl.Round, m fl.Mechanism, share float64) string {
	if m.Guarantee().Trust == fl.NoPrivacy {
		return ""
	}
	bounded, ok := m.(fl.Swayer)
	if !ok {
		return "liars: no bound is stated on how far one client who lies moves a mean"
	}
	where := "a coordinate of a mean"
	if _, ok := m.(fl.ProvedMechanism); ok {
		where = "a mean, if both servers are honest,"
	}
	far := bounded.Sway() / r.Scale
	return fmt.Sprintf("liars: %.3g %% of the clients, with reports that they make up, can move %s by up to %.2g times the clip. %.2g %% of the clients together can move it by the whole clip. No mean of honest clients is larger", 100*share, where, far*share, 100/far)
}
