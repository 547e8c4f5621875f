// Package experiment is the form of every experiment that `go run ./bench` runs. Use it to add
// an experiment. Start with [Experiment], and draw randomness from [Stream] only.
//
// An experiment reproduces one table or figure of a paper. It gets an [Env] and returns a
// [Result]. [Print] shows a result and [Write] keeps it. The claims that an experiment checks
// are its verdicts. The same seed gives the same numbers, whatever the number of jobs.
package experiment
