// Package ledger is a client's durable record of the privacy it has spent: a file on the
// device that says, before every report, whether the client's own lifetime budget allows
// it, whatever servers ask for and whenever the process dies. It fails closed: a client
// whose ledger does not say yes must not encode.
//
// # States
//
//	Reserve ──> reserved ──Spend──> spent ──Receipt──> acknowledged
//	               └──Release──> released
//
// Reserve returns when the charge is on disk, which must be before the report is encoded: its
// randomness can leak from the moment it exists. From then on the charge counts in
// full, also after a crash. Spend comes before the first byte of the report leaves. Only
// a reserved entry can be released, by a caller who knows that nothing has left; what is
// released no longer counts, and stays on record. Receipt notes the server's acknowledgement
// and changes nothing about the budget. Sending the same bytes again needs no new entry.
//
// # Purposes
//
// A purpose names a body of data with a budget of its own, for example "keyboard". Budgets
// of different purposes are not added up: data that is used for two of them is
// protected by the two budgets composed.
//
// # Durability
//
// The file is a bbolt database, synchronised to disk before any method returns success. If a
// write fails, what is on disk is unknown and the ledger refuses everything until it is
// opened anew. Every record carries a SHA-256 and entries are numbered without gaps; Open
// checks all of them, both headers and the structure of the file, and refuses a file with any
// damage, because a damaged ledger may have forgotten a charge. Time stamps are
// informational: order and budget do not depend on the clock.
//
// A file that was deleted or replaced by an older copy of itself cannot be told from a true
// one; a device that has had a ledger opens it with Options.MustExist. The checksums are no
// defence against somebody who can write the file.
//
// # Exported form
//
// Export writes one JSON object:
//
//	{"version": 1, "purposes": {"keyboard": {
//	  "budget": {"epsilon": 4, "delta": 1e-06, "relation": "replace-one"},
//	  "spent":  {"epsilon": 1, "delta": 0, "relation": "replace-one"},
//	  "entries": [{"id": 1, "state": "acknowledged", "round_id": "r7", "digest": "64 hex digits",
//	    "mechanism": "coco", "model": "local", "epsilon": 1, "delta": 0, "relation": "replace-one",
//	    "reserved_at": "2026-01-02T03:04:05Z", "spent_at": "...", "released_at": "...",
//	    "acknowledged_at": "...", "receipt": "..."}]}}}
//
// Times are RFC 3339 in UTC. What has not happened is left out. Entries are in the order of
// their ids, which are shared by all purposes. An infinite epsilon is the string "inf".
// Models are "none", "local" and "shuffle"; relations "replace-one" and "zero-out". A charge
// without privacy may have no relation, which is the empty string.
package ledger
