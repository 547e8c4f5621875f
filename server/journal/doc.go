// Package journal is where a server keeps what must survive a restart. Use it to choose that
// place, or to write another one. Start with [NewMemory], which survives nothing, and with
// package server/journal/disk.
//
// A [Journal] is an ordered map from keys to values, both of bytes. A [Batch] of changes is
// made as a whole or not at all. When [Journal.Commit] has returned nil, the batch survives a
// crash of the process and of the machine. A server acknowledges a report after that moment
// and never before.
//
// A journal does not know what its values mean. The roles that share one keep apart by the
// first bytes of their keys.
package journal
