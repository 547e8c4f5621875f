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
// The engine, Pebble, takes a damaged record in a log, or in its list of tables, for the end of the
// file. It takes a log that is gone for one that it has removed. It would lose what was there without
// a word. So the journal keeps a file of notes, "sums", with the name, the length and the checksum of
// each log, list of tables, table and marker. Open compares all of them. It refuses a journal with a
// file that was removed, cut short, changed, or exchanged with another. A log is also required while
// the engine keeps it to write over it.
//
// After a crash of the machine the noted length of a log may be older than its end: there, damage
// may look like a batch that was on its way. A table that is damaged while the journal is open is an
// error of Get or Scan. All these errors wrap ErrDamaged. An older copy of the whole directory is a
// sound journal, and is not noticed.
//
// # One process, one directory
//
// Open locks the directory. A second process gets ErrLocked, and the lock goes with the process. A
// directory must belong to the user of the process or to root, must not be a symbolic link, and
// must be empty or a journal. Use a local disk: locks and forced writes of network file systems
// keep less than they say.
//
// # Full disks
//
// Before a commit the journal looks at the free space, at most ten times a second and whenever a
// quarter of the ballast was written. It refuses what would leave less than Options.MinFree, with
// an error that wraps journal.ErrFull. Nothing of such a batch is written. Batches that only delete
// are accepted. Service goes on by itself when there is room. A deletion makes room after about ten
// seconds, when the tables are written anew.
//
// Somebody else may fill the disk in between. The ballast is a file that holds room for that
// moment: a write that finds no room removes it, and is tried again. The journal is then full until
// there is room for a new ballast.
//
// # Errors of the disk
//
// When the log or the list of tables cannot be written, even without the ballast, it is unknown
// what is on disk. The process then logs an error and ends with exit code 1. It acknowledges
// nothing more. When a table cannot be written or read, all calls return ErrFailed from then on. If
// commits are waiting for that table, the process ends, too. In both cases the next Open finds what
// was acknowledged, unless the disk lost it.
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
// Memory: up to two tables of 16 MiB that are being written, Options.CacheBytes, and one batch per
// caller. Disk: each change is written once to the log and about twice to tables while they are
// merged. Reports are random and are kept as they are.
package disk
