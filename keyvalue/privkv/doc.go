// Package privkv is the key-value mechanisms that sample one key per client: "privkv",
// "privkvm" and "kvue". Use them to compare package pckv with what came before it.
// Import the package for its effect and start with a round of [NamePrivKVM].
//
// They are baselines. Every client reports about one key only, and so the error per key grows
// with the number of keys d.
//
// # Mechanisms
//
// A client draws a key j uniformly from all d keys. It reports j, which says nothing about its
// data, and a message about its own state there. The state is that j is not held, or that it is
// held with a value v. The value is rounded to +1 with probability (1+v)/2 and to −1 otherwise.
//
//   - "privkv" (Ye, Hu, Meng, Zheng, PrivKV: Key-Value Data Collection with Local
//     Differential Privacy, S&P 2019) has the messages none, + and −. The sign
//     goes through randomized response with ε/2. A client that does not hold j takes
//     a fair sign. Whether the sign is sent, or none in its place, goes through
//     randomized response with ε/2.
//   - "privkvm" (ibid.) is the first of c rounds of the iterative mechanism, the only
//     one in which keys are perturbed: ε/2 for the key and ε/(2c) for the sign
//     (parameter rounds = c). In further rounds a client would report the last mean for a key
//     that it does not hold. Here the server computes what those rounds would have given in
//     expectation (parameter virtual, the number of virtual iterations): 1 and 5 is the
//     "1r5v" of the literature. With c > 1 the report spends ε/2 + ε/(2c) only. What is
//     left for later rounds is not used.
//   - "kvue" (Sun, Zhao, Ye, Feng, Wang, Bai, Conditional Analysis for Key-Value Data
//     with Local Differential Privacy, arXiv 1907.05014) has the three states as a unary
//     code of three bits. Each bit goes through randomized response with ε/2
//     (symmetric unary encoding).
//
// # Privacy
//
// A report is ε-LDP. All choices are integers (package internal/exact), and the tests enumerate
// all messages of all inputs. Two codes of KVUE differ in two bits, and e^ε is attained. For
// PrivKV with key budget ε1 and value budget ε2 the largest ratio is
// max(e^ε1·2/(1+e^−ε2), e^ε2, (1+e^ε2)/(2·e^ε1)). It is below e^(ε1+ε2): the split of the
// paper leaves some budget unused.
//
// # Reports
//
// A report is the integer j·m + message, little-endian in as many bytes as d·m − 1 needs.
// PrivKV has m = 3 (none, +, −). KVUE has m = 8 (bit 0: none, bit 1: +, bit 2: −).
//
// # Estimation
//
// Let N of n reports be about a key.
//
//   - Frequency: (hits/N − q)/(p − q). A hit is a sign (PrivKV) or a missing bit
//     for none (KVUE). Its probability is p with the key and q without. The estimate is
//     unbiased given N > 0. With N = 0 it is 0 ± 1.
//   - Mean: d/n·gain·(number of + less number of −), unbiased. It is formed
//     directly. The papers use the product of frequency and conditional mean, which is
//     biased, because a conditional mean is a ratio, and PrivKV's is pulled towards 0.
//   - Conditional: PrivKV's m̂ is the mean of the signs over the gain of their
//     randomized response. Fair signs of clients without the key pull it towards 0, by
//     the factor w = f·p/(f·p + (1−f)·q). v virtual iterations multiply it by
//     (1 − (1−w)^(1+v))/w, with f estimated. KVUE's is the estimated sum of values over
//     the estimated frequency. Frequencies are moved into [1/N, 1] for these, and results
//     into [−1, 1] times Round.Scale. With N = 0 it is 0.
package privkv
