// Package keyvalue holds what key-value mechanisms share before and after their
// rounds, whatever the mechanism. The mechanisms are packages below this one.
//
// Before: [Pairs] reads a gradient as key-value pairs.
//
// After: frequencies of clients that all hold s keys are non-negative and sum to s;
// the means of such clients have an L1 norm of at most s. Both sets are convex, so
// the Euclidean projection onto them ([Simplex], [L1Ball]) never moves an estimate
// away from the truth. It spends no privacy budget. The result is biased.
package keyvalue
