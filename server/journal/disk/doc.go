// Package disk keeps a server's journal in a directory. Use it wherever an acknowledgement must
// survive a crash. Start with [Open]; the result is a journal.Journal.
//
// # What survives
//
// Commit returns nil after the operating system has said that the batch is on disk. Batches of many
// goroutines share one such wait. After a kill of the process, or a crash of a machine whose disk
// keeps what it said, Open finds every batch that was acknowledged, whole. It may find batches that
// were on their way; it never finds a part of one.
//
// # Damage
//
// The directory's journal.db is a file of bbolt. Each pair has a checksum of its own. The file holds the
// number of all pairs and the sum of all checksums. Open reads everything and compares. It refuses a
// file that was cut short, changed, or exchanged with another, also where a pair is missing or cannot
// be found by its key. A pair that is damaged while the journal is open is an error of Get or Scan.
// All these errors wrap ErrDamaged. An older copy of the file is a sound journal, and is not noticed.
//
// # One process, one directory
//
// Open locks the file. A second process gets ErrLocked, and the lock goes with the process. The
// directory and the file must belong to the user of the process or to root, and must not be symbolic
// links. The directory must be empty or hold a journal. Use a local disk: locks and forced writes of
// network file systems keep less than they say.
//
// # Full disks
//
// Before a commit the journal looks at the free space, at most ten times a second and whenever 16 MiB
// were written. It refuses what would leave less than Options.MinFree, with an error that wraps
// journal.ErrFull. Nothing of such a batch is written. Batches that delete and add at most 16 KiB are accepted. The file
// does not shrink: what a deletion frees is room for the next batches, also while the disk is full.
// Service goes on by itself when there is room.
//
// Somebody else may fill the disk in between. A commit that finds no room is undone, and returns the
// same error. The journal keeps a file named reserve, of 256 KiB. On a full disk it gives this space to
// a batch that deletes, and it makes the file again when there is space. A deletion is still refused
// if it needs more: for dozens of ranges of keys at once, or beside a large value, whose page it writes anew.
//
// # Errors of the disk
//
// When a write fails for another reason, it is unknown what is on disk. The journal then acknowledges
// nothing more: all calls return journal.ErrFailed. The next Open finds what was acknowledged, unless the disk
// lost it.
//
// # Backup
//
// [Journal.Backup] makes a consistent copy while the journal serves. The copy is a journal: to
// restore it, open it in the place of the old one. A copy knows nothing of what came later, so a
// report that was acknowledged after the copy and is sent again will be counted in the restored
// server, and what was not sent again is missing.
//
// # Cost
//
// Memory: the file is mapped into memory, so that the operating system keeps what fits. A commit holds
// the batches that share it. Disk: up to twice the pairs. Each commit writes the pages that it changes,
// of 4 KiB, and waits for the disk twice. A deletion costs a step per key.
package disk
