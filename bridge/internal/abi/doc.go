// Package abi lets programs in other languages use this module: it answers requests that
// come in frames of bytes. Command bridge/pipe runs it on its pipes, and bridge/c is
// called from C. Start with [Serve], and for one request without frames with [Session.Call].
//
// # Frames
//
// Both directions carry frames. A frame is the length of its header (uint32) and of its
// payload (uint64), both little-endian, then the header, which is JSON, and the payload. A
// header has at most [MaxHeader] bytes and a payload at most [MaxPayload]. A reader takes
// memory for the bytes that have come, not for those that a length promises. If the highest bit
// of a request's payload length is set, the payload is not on the pipe. It is then the beginning of
// the memory that both ends share ([Memory]).
//
// The helper sends the first frame: {"protocol": 1, "mechanisms": [...]}. Afterwards each
// request gets one answer, in their order.
//
//	request   {"op": "encode", "release": [4, 5], "args": {...}}
//	answer    {"answer": {...}}
//	error     {"error": {"kind": "policy", "message": "...", "param": "epsilon", "got": "4", "rule": "..."}}
//
// Unknown names are errors. "release" lists handles that are no longer needed; it may be
// left out. A number that is infinite is the string "inf". An error has param, got and rule
// where a parameter is at fault, and one of the kinds that this package lists.
//
// # Operations
//
// A handle is a number that stands for an object of the session. Objects end with it.
//
//	op          args                                  payload in    answer and payload out
//	round.new   a description, see below              -             the round; its canonical bytes
//	round.open  policy or null, max_dim, tokens       description   the round; its canonical bytes
//	logged      round, log_key, witnesses             the proof     -, or an error if it proves nothing
//	token       round                                 signatures    -; the tokens
//	encode      round, type "f4" or "f8", rows;       the rows      -; the packed reports
//	            first, the number of the first row,
//	            from which errors count
//	records.new round                                 -             records, a sum of none
//	records.add records, type, rows, first            the rows      -
//	records.encode records                            -             -; the packed report
//	aggregator  round                                 -             aggregator
//	add         aggregator                            reports       reports, the number of them
//	merge       aggregator, other                     -             -
//	snapshot    aggregator                            -             -; the snapshot
//	restore     aggregator                            snapshot      -
//	estimate    aggregator                            -             reports, records, columns, noise_norm, suspects; their numbers
//	ledger      path, counter, must_exist             -             ledger
//	budget      ledger, purpose, central, epsilon,    -             -
//	            delta, relation
//	spent       ledger, purpose, central              -             epsilon, delta, relation
//	reserve     ledger, purpose, round                -             entry
//	spend       ledger, entry                         -             -
//	unspend     ledger, entry                         -             -
//	receipt     ledger, entry, receipt                -             -
//	account     round, clients, participations,       -             promises, by participations
//	            delta, ahead
//	plan        a request; public, the number of      public        the plan
//	            public gradients, and their type;     gradients or
//	            with labels and features, of          features
//	            public examples
//	compare     as plan                               as plan       rows, one for each trust
//	verify      round, method, seeds, samples,        -             what the check found
//	            confidence; what is 0 is chosen
//	release     -                                     -             -
//
// Rows and public gradients are little-endian IEEE 754 numbers of 32 or 64 bits, one row of dim numbers after the
// other. Each row gives one report. Reports are packed by fl.PackReports, in the order of
// the rows. All of them are encoded or none. Columns of an estimate are float64: all values
// of a column and then, if it has them, all standard errors.
//
// A browser has no logged, ledger, account, plan, compare and verify: see package bridge/web.
//
// # Privacy
//
// A round encodes only if it was opened under a policy that accepts it. Randomness comes from
// the operating system, and no request sets a seed. In a round with a shuffler encode returns
// sealed items of one size (package server/seal), which nobody on the way can read, and add
// refuses them: only the server has the key.
//
// A round that asks for admission tokens is opened under a policy only if "tokens" is true: the caller then
// fetches the tokens. Each of the answer's token_requests is what IssueToken of the issuer takes. There is one,
// and in a round with a shuffler a second one. The blind signatures that come back are for the operation token,
// one after the other in the order of the requests. It checks them and returns the tokens in that order. Then
// encode makes one report, with the seed that the first token assigns. In a round with a shuffler the first token is sealed with the report, and the caller
// sends the second one to the shuffler beside it. In every other round the caller sends the report and its token to
// the server. The issuer must not get a token: it would know whose report has it. The server and the shuffler must
// not get a request: the issuer knows whose it is.
package abi
