package plan

import "math"

// A run that starts from a public model has two rules of its own. Their constants were found in simulations on
// digits of handwriting fonts that the public networks had not seen (docs/training.md). votes is the standard error of a
// coordinate of the mean over all rounds, in units of the clip: with votes of 0.003 a run removes most of what the public model has
// wrong, with 0.01 a quarter, and from 0.1 on nothing.
const (
	warmClasses = 10
	warmLeast   = 0.25  // of the public model that a run with little noise starts from
	warmVotes   = 0.012 // votes up to which it does
	warmPower   = 0.65  // of the growth beyond: the whole model at 0.1
	warmLogits  = 0.05  // noise of a logit over the root of votes, at most 1
	// hopelessVotes is where a run is expected to leave 92 % of what the public model has wrong. A single run may then well end
	// below the public model.
	hopelessVotes = 0.033
)

// warmFactor is by how much to multiply the public model: less of it where the run learns more.
func warmFactor(votes float64) float64 {
	return min(1, max(warmLeast, warmLeast*math.Pow(votes/warmVotes, warmPower)))
}

// warm is the rule of steps for a run that starts from a public model.
func (r stepRule) warm(votes float64) stepRule {
	r.noiseGoal = min(1, warmLogits/math.Sqrt(votes))
	return r
}

// rests are what a run leaves of the share that the public model has wrong, against votes. Between them it is on a
// line over the logarithm of votes.
var rests = []struct{ votes, rest float64 }{{0.0003, 0.24}, {0.001, 0.3}, {0.0033, 0.42}, {0.0064, 0.54}, {0.0126, 0.76}, {hopelessVotes, 0.92}, {0.1, 1}}

// warmRest is what a run leaves of the share that the public model has wrong.
func warmRest(votes float64) float64 {
	for i, at := range rests {
		if votes > at.votes {
			continue
		}
		if i == 0 {
			return at.rest
		}
		less := rests[i-1]
		return less.rest + (at.rest-less.rest)*math.Log(votes/less.votes)/math.Log(at.votes/less.votes)
	}
	return 1
}
