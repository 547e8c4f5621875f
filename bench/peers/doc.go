// Command peers measures what one client's ternary vector costs under CoCo and under its
// nearest alternatives: the bytes a client sends, the client's time and the server's time.
// Use it before you choose a protocol. Start with one of the two runs below.
//
//	go run .                        # 7850 coordinates, 64 non-zero, ε = 5
//	go run . --time 200ms --out DIR # quicker, and the results in files
//
// The contenders, one file each behind one interface:
//
//  1. CoCo of this repository with the hash family that fl.Complete chooses.
//  2. CoCo with the family "ideal" of the paper, read in O(dim) per report.
//  3. Prio3SumVec (draft-irtf-cfrg-vdaf) of circl, 2 aggregators: x+1 in 2 bits
//     for every coordinate.
//  4. Prio3Histogram of circl, 2 aggregators: one of the client's signed
//     coordinates, as one of 2·dim buckets. Not the same work: a 1-sparse vector.
//  5. The vector as dim float32 numbers, compressed with zstd.
//
// # What is counted
//
// A client's cost is everything from the ternary vector to the bytes it sends,
// summed over all recipients. A server's cost is everything from these bytes to
// the accumulated state, summed over both aggregators of Prio3: decoding, all
// rounds of preparation with their messages encoded and decoded, accumulation.
// What happens once per round has columns of its own, so that a contender cannot
// hide work there: a client's setup before its first report, and how the server
// reads the sum after the last one. Networks, transport encryption, and
// the encryption of Prio3's shares to their aggregators are not counted.
//
// Everything runs on one core, the garbage collector included. Each number is
// the median of five repetitions, and the repetitions of all contenders take
// turns, so that a slow minute of the machine does not fall on one of them.
//
// # Limits
//
// The guarantees differ, and the table says how. CoCo's reports are
// differentially private and its sum is noisy. Prio3 keeps single reports secret
// as long as one aggregator is honest, and publishes an exact sum without any
// differential privacy. Errors of the sums are not compared here.
package main
