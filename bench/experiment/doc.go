// Package experiment is the form of every experiment that `go run ./bench`
// runs: what one is ([Experiment]), what it is given ([Env]), what it finds
// ([Result], with a [Figure]) and how that is shown ([Print]) and kept ([Write]).
//
// An experiment reproduces one table or figure of a paper and states the claims
// it checks as verdicts. It draws all its randomness from [Stream], so that the
// same seed gives the same numbers whatever the number of jobs.
package experiment
