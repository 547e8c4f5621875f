// Package fileowner says whether a file belongs to somebody else. Use it before a file or a
// directory is trusted with what another user must not change or read. Start with [Check].
package fileowner
