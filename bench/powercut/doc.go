// Package powercut is a file system that loses power: what was not synced is forgotten. Use it to test that a
// program finds after a power failure what it has acknowledged. Start with [Mount].
// It needs Linux, and root or fusermount.
//
// Each directory at the top is a disk of its own, and has its own power. A text that is written into the file "power" at the
// top says what happens: "cut DISK" ends its power, and every call on it is refused from then on. "restore DISK" brings back what
// a disk is allowed to have kept. "freeze DISK" makes it read-only, as a system does with a disk that has errors, and
// "thaw DISK" ends that.
//
// What a file system promises is little, and a disk here promises no more. A file's bytes are there that were synced. Of later
// writes any sectors of 512 bytes are there, and the later lengths or not. A name is there when its directory was synced after it came. Of
// later changes to a directory the first few are there, any number of them. Each directory's and each file's fate is its own.
//
// Journaling file systems such as ext4 and XFS promise more: when a file is synced, all names are there that came before. "order DISK"
// makes a disk one of theirs, for programs of others that rely on it.
package powercut
