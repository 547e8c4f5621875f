// Package ledger keeps a client's durable record of the privacy it has spent, in a file.
// Use it before every report: it allows or refuses the report by the client's lifetime budget.
// Start with [Open], [Ledger.SetBudget] and [Ledger.Reserve].
//
// No server can change the record, and it survives a crash at any moment. The ledger fails closed:
// a client whose ledger does not say yes must not encode.
//
// # States
//
//	Reserve ──> reserved ──Spend──> spent ──Receipt──> acknowledged
//	               └──Release──> released
//
// Reserve returns when the charge is on disk. It must return before the report is encoded: the
// report's randomness can leak from the moment it exists. From then on the charge counts in full,
// also after a crash. Spend comes before the first byte of the report leaves. Only a reserved entry
// can be released. Call Release only where no byte of the report has left the client: the ledger
// cannot check it. A released charge no longer counts, and stays on record. Receipt notes the
// server's acknowledgement and changes nothing of what is spent. Sending the same bytes again needs no new
// entry.
//
// # What an entry keeps
//
// A client that dies in the middle of a round has to send the very bytes that it may have sent
// before: other bytes would be a second report. So an entry keeps bytes for its client. Keep writes
// them while the entry is reserved, durably: the report, and what is needed to send it. After a
// restart Find returns the entry of a round and Kept its bytes. Release and Receipt drop them.
// Dropping does not erase: a dropped report can stay in a free part of the file until the part is
// used again. Anyone who can read the file may read the client's last reports.
//
// # Accountants
//
// A [Filter] computes the total loss of all charges, by package privacy. [EitherFilter] is the
// default, and takes the smaller of [UniformFilter]'s and [BasicFilter]'s bounds. A privacy filter
// is an accountant whose bound holds even if a server chooses each round's parameters after it has
// read the client's earlier reports.
//
// # Purposes
//
// A purpose names a body of data with a budget of its own, for example "keyboard". The ledger does
// not add up the budgets of different purposes. Do not use the same data for two purposes: the data
// can then lose as much as both budgets composed, and the ledger does not check it.
//
// # Local and central
//
// A report can promise two things. Its local guarantee holds against every party that reads it. Its
// central guarantee holds against a party that sees only what a whole round gives together, for
// example the server behind a shuffler. The central guarantee assumes an honest shuffler. A purpose
// has up to two budgets. [Ledger.SetBudget] sets the first. It limits the client's total local
// loss. This total holds against a party that sees all reports of the client. The mechanisms sumdp and
// gaussian-shares have no local ε: their reports count with their central ε. A total with such a
// report holds only if the server that merges the reports, or one of the two servers, is honest.
// [Ledger.SetCentralBudget] sets the second budget, which is optional. It limits the total of the
// central guarantees. This total holds against a party that sees only what whole rounds give together. A
// report without a central guarantee counts with its local guarantee there. A charge must fit into every budget that is set.
//
// # Durability
//
// The file is a bbolt database, synchronised to disk before any method returns success. If a
// write fails, what is on disk is unknown and the ledger refuses everything until it is
// opened anew. Every record carries a SHA-256 and entries are numbered without gaps. Open
// checks all of them, both headers and the structure of the file. It refuses a file with any
// damage, because a damaged ledger may have forgotten a charge. Time stamps are
// informational: order and budget do not depend on the clock.
//
// # Replaced files
//
// While a ledger is open, every method checks that its file is still the one at its path and
// still holds what was written last. Methods that write check it before they begin and again when
// the record is on disk. If the file was moved, removed, replaced by another file or a link, or
// overwritten by an older copy, the method returns [ErrReplaced] and an error that says which. The
// charge is not granted, and the ledger refuses everything until it is opened anew. Open refuses
// a symbolic link in the last element of the path, and on Unix a file of another user than this
// one or root. It does not look at permissions.
//
// While a ledger is closed, its file cannot notice that it is replaced. An older copy of a ledger
// is a sound ledger. Two things help:
//
//   - Options.MustExist refuses a ledger that is gone. Use it for a client that has had one.
//   - Options.Counter names a second file, in another directory. It holds the ledger's id and the
//     number of its last step. Open refuses a ledger that has fewer steps, another id, or is gone.
//
// A ledger that has forgotten a step which was reported as done is behind its counter. A ledger
// that has forgotten nothing never is. The counter is not signed, and it does not compare
// contents. So these cases are not noticed:
//
//   - The ledger and its counter are restored together, as from an image of the whole machine.
//   - The counter is removed and a new one is made. MustExist refuses that.
//   - A copy is opened under another path, or without its counter, and goes its own way until it
//     has as many steps.
//   - A party that can write the two files writes them. The checksums are no defence against it.
//
// # Exported form
//
// Export writes one JSON object, an [Exported], whose fields say what they hold and promise.
// [ReadExported] reads it. For example:
//
//	{"version": 1, "purposes": {"keyboard": {
//	  "budget": {"epsilon": 4, "delta": 0, "relation": "replace-one",
//	    "central": {"epsilon": 1, "delta": 2e-06, "relation": "replace-one"}},
//	  "spent":  {"epsilon": 1, "delta": 0, "relation": "replace-one",
//	    "central": {"epsilon": 0.25, "delta": 2e-06, "relation": "replace-one"}},
//	  "entries": [{"id": 1, "state": "acknowledged", "round_id": "r7", "digest": "64 hex digits",
//	    "mechanism": "coco", "model": "local", "epsilon": 1, "delta": 0, "relation": "replace-one",
//	    "central": {"model": "shuffle", "epsilon": 0.25, "delta": 1e-06, "relation": "replace-one"},
//	    "reserved_at": "2026-01-02T03:04:05Z", "spent_at": "...",
//	    "acknowledged_at": "...", "receipt": "..."}]}}}
//
// The totals are at the δ of the budgets. Fields of steps that were not taken are left out. The
// bytes that entries keep are not exported. An infinite epsilon is the string "inf".
package ledger
