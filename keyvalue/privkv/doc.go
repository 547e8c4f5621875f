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
//     (parameter rounds = c). Further rounds are each an [Iteration]. Without them the server
//     computes what c rounds of the first kind would have given in expectation (parameter
//     virtual, the number of virtual iterations): rounds = 1 and virtual = 5 is the "1r5v" of the
//     literature. With c > 1 the first report spends ε/2 + ε/(2c).
//   - "kvue" (Sun, Zhao, Ye, Feng, Wang, Bai, Conditional Analysis for Key-Value Data
//     with Local Differential Privacy, arXiv 1907.05014) has the three states as a unary
//     code of three bits. Each bit goes through randomized response with ε/2
//     (symmetric unary encoding).
//
// # Iterations
//
// A client of an [Iteration] draws a key again. It reports the key and a sign: the sign of its value,
// or, for a key that it does not hold, the sign of the mean that was published for the key after the
// iteration before. The sign goes through randomized response with ε/(2c). Signs of clients without
// the key pull the next estimate to the published mean, and no longer to 0.
//
// Iterations are for the library and for experiments. No registered mechanism runs them: a
// round's description would have to hold d means, and every client would have to send c reports.
// The server publishes the first round's conditional means (virtual = 0), both sides
// make the second iteration from them with [NewIteration], and so on.
//
// The paper of PCKV, Section 4.2, says that the key has a budget of 0 in these rounds. Randomized
// response with a budget of 0 would say "none" in half of the reports, whatever the client holds. Here every report has a
// sign: the privacy is the same, and the noise is the noise of twice as many reports.
//
// # Privacy
//
// A report is ε-LDP. All choices are integers (package fl/exact), and the tests enumerate
// all messages of all inputs. Two codes of KVUE differ in two bits, and e^ε is attained. For
// PrivKV with key budget ε1 and value budget ε2 the largest ratio is
// max(e^ε1·2/(1+e^−ε2), e^ε2, (1+e^ε2)/(2·e^ε1)). It is below e^(ε1+ε2): the split of the
// paper leaves some budget unused.
//
// A report of an iteration is ε/(2c)-LDP, for all means that may have been published. The c reports of a
// client are ε-LDP together, by basic composition: ε/2 + ε/(2c), and c−1 times ε/(2c). That the
// published means depend on earlier reports changes nothing. Any two clients are neighbours,
// whatever they hold (replace one).
//
// # Reports
//
// A report is the integer j·m + message, little-endian in as many bytes as d·m − 1 needs.
// PrivKV has m = 3 (none, +, −). KVUE has m = 8 (bit 0: none, bit 1: +, bit 2: −). An iteration has
// m = 2 (+, −).
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
//   - Iterations: the mean of the signs over the gain, moved into the same range. In expectation it is
//     f·m + (1−f)·m' after a published mean m'. The bias shrinks by the factor 1−f: hardly
//     at all for rare keys. The last iteration has the variance of a budget of ε/(2c).
package privkv
