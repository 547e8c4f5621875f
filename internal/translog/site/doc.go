// Package site has a log behind HTTP. Use it to serve the files of a log, to read them from a URL, and to send what a
// witness has signed. Start with [Handler] for a server and with [Open] for a reader. Package translog does without HTTP: clients that
// only check a proof do not link it.
package site
