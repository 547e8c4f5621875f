package shufflesum

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// vectorOutcomes are what was measured, by label.
type vectorOutcomes map[string]outcome

func highDimName(relation fl.Relation, composition hdsum.Composition) string {
	return vectorMethod{name: "HighDimSum", relation: relation.String(), composition: composition.String()}.label()
}

func sparseLabel(composition hdsum.Composition) string {
	return vectorMethod{name: sparseName, composition: composition.String()}.countLabel()
}

// number claims that an error is the paper's, up to a relative tolerance.
func (found vectorOutcomes) number(claim, label string, theirs, tolerance float64) experiment.Verdict {
	e := found[label].err
	return experiment.Verdict{
		Claim:  claim,
		Holds:  e.Value < theirs*(1+tolerance) && e.Value > theirs/(1+tolerance),
		Ours:   written(e),
		Paper:  fmt.Sprintf("%g %%", theirs),
		Detail: fmt.Sprintf("%s; within %g %% of it counts", label, 100*tolerance),
	}
}

// table4Claims are the paper's numbers and what it says about them. Under zero-out its settings
// are the measured ones. toGrey is by how much a relative error is multiplied where pixels are in
// [0, 1] and noise is the same. others says what the
// images are, if not the paper's.
func (found vectorOutcomes) table4Claims(relation fl.Relation, toGrey float64, others string) []experiment.Verdict {
	var out []experiment.Verdict
	paper, tight := highDimName(relation, hdsum.Paper), highDimName(relation, hdsum.Tight)
	two, log := found[hlyName(baseTwo)], found[hlyName(natural)]
	gain := experiment.Verdict{
		Claim:  fmt.Sprintf("Table 4: HighDimSum, %s, is more than 100 times more accurate than HLY", relation),
		Ours:   writtenTimes(times(two.err, found[paper].err)),
		Detail: fmt.Sprintf("HLY with base-2 logarithms; with natural ones %s", writtenTimes(times(log.err, found[paper].err))),
	}
	gain.Holds = min(two.err.Value, log.err.Value) > 100*found[paper].err.Value
	if relation == fl.ZeroOut {
		gain.Paper = fmt.Sprintf("%.0f times", float64(paperHLY)/paperHighDim)
		full := toGrey * 28 / norm // pixels in [0, 1024/28]: an image of full pixels has the norm U₂
		out = append(out,
			found.number("Table 4: HighDimSum has the paper's error", paper, paperHighDim, 0.1),
			experiment.Verdict{
				Claim:     "Table 4: HLY has the paper's error",
				Unsettled: "the paper prints neither HLY's constants nor the scale of the pixels",
				Ours:      written(two.err),
				Paper:     fmt.Sprintf("%g %%", float64(paperHLY)),
				Detail: fmt.Sprintf("with base-2 logarithms: 0/1 pixels %.0f %%, pixels in [0, 1] %.0f %%, pixels in [0, U₂/28] %.3g %%; with natural ones: %.0f %%, %.0f %%, %.3g %%",
					two.err.Value, toGrey*two.err.Value, full*two.err.Value, log.err.Value, toGrey*log.err.Value, full*log.err.Value),
			},
			found.number("Table 4: central DP has the paper's error", centralName, paperCentral, 0.5),
			experiment.Verdict{
				Claim:     "Table 4: clients of HighDimSum and HLY send as many messages as the paper's",
				Unsettled: "the budgets that the paper prints do not give the messages that it prints",
				Ours:      fmt.Sprintf("%.0f and %.0f", found[paper].messages.Value, two.messages.Value),
				Paper:     fmt.Sprintf("%d and %d", paperHighDimMessages, paperHLYMessages),
			})
		for i := range out {
			if others != "" && out[i].Unsettled == "" {
				out[i].Unsettled = "the images are " + others + " and not MNIST"
			}
		}
	}
	return append(out, gain, found.tighter(fmt.Sprintf("HighDimSum, %s", relation), paper, tight))
}

// tighter is a claim of ours about composition.
func (found vectorOutcomes) tighter(what, paper, tight string) experiment.Verdict {
	ratio := times(found[paper].err, found[tight].err)
	return experiment.Verdict{
		Claim:  what + ": tight composition, which is ours, is more accurate than the paper's",
		Holds:  ratio.Low > 1,
		Ours:   writtenTimes(ratio),
		Detail: fmt.Sprintf("%s against %s", written(found[tight].err), written(found[paper].err)),
	}
}

// table5Claims are what the paper says about Table 5.
func (found vectorOutcomes) table5Claims() []experiment.Verdict {
	paper, tight := sparseLabel(hdsum.Paper), sparseLabel(hdsum.Tight)
	own, two, log, central := found[paper], found[naiveName(baseTwo)], found[naiveName(natural)], found[centralName]
	naive := two
	if log.err.Value < two.err.Value {
		naive = log
	}
	gain, far := times(naive.err, own.err), times(own.err, central.err)
	return []experiment.Verdict{{
		Claim:     "Table 5: SparVecSum, NaiveVecSum and central DP have the paper's errors",
		Unsettled: "the search log was withdrawn, and the stand-in's constants follow from these errors",
		Ours:      fmt.Sprintf("%.3g %%, %.3g %%, %.3g %%", own.err.Value, naive.err.Value, central.err.Value),
		Paper:     fmt.Sprintf("%g %%, %d %%, %g %%", paperSparse, paperNaive, paperSparseCentral),
		Detail: fmt.Sprintf("SparVecSum %s; NaiveVecSum with natural logarithms %s, with base-2 ones %s; central DP %s",
			written(own.err), written(log.err), written(two.err), written(central.err)),
	}, {
		Claim:  "Table 5, stand-in: SparVecSum is much more accurate than NaiveVecSum",
		Holds:  gain.Value > 3,
		Ours:   writtenTimes(gain),
		Paper:  fmt.Sprintf("%.1f times", paperNaive/paperSparse),
		Detail: "at least 3 times counts",
	}, {
		Claim:  "Table 5, stand-in: SparVecSum is close to central DP",
		Holds:  far.Value < 2,
		Ours:   writtenTimes(far) + " its error",
		Paper:  fmt.Sprintf("%.1f times its error", paperSparse/paperSparseCentral),
		Detail: "less than twice counts",
	}, {
		Claim:     "Table 5: clients of SparVecSum and NaiveVecSum send as many messages as the paper's",
		Unsettled: "the search log was withdrawn, and the budgets that the paper prints do not give its messages",
		Ours:      fmt.Sprintf("%.3g and %.3g million", own.messages.Value/1e6, naive.messages.Value/1e6),
		Paper:     fmt.Sprintf("%.3g and %.3g million", paperSparseMessages/1e6, paperNaiveMessages/1e6),
	}, found.tighter(sparseName, paper, tight)}
}
