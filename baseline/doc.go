// Package baseline has the mechanisms that hushgrad is compared with. They run in the stock server
// like any other. Use one to see what another mechanism gains. Import the package for its effect
// and start with a round of [None], [Gaussian] or [Laplace].
//
// The comment of a mechanism's name says how it works, what it promises and what it costs. Each is one
// file, and what all dense integer mechanisms share is package baseline/internal/integers. PrivUnitG, which
// no computer keeps private, is the laboratory's: bench/privunitg.
//
// Elsewhere a mechanism's package bears its registered name where it can: coco, collision, signsketch
// and tiers. Package keyvalue has three mechanisms, package mechanisms has "auto", and hdsum has
// "sumdp" and "gaussian-shares", beside the protocols below them.
package baseline
