// Package dashboard shows a parameter server in a browser: its rounds and what they promise, how
// reports come in, models, and the curves of a training run. Use it through package server's
// ServeDashboard, which says who may look. Start with [New] and [Dashboard.Serve].
//
// # Pages
//
//   - / is the page. It needs no other server, and works without the internet.
//   - /state.json is all that the page shows: a [State].
//   - /events has the same as server-sent events: a new State whenever something has changed, at
//     most every 500 ms.
//
// Nothing can be changed through these pages, and no other site may read them. Nothing of a single client
// is there: no report, no address, no key of a batch.
//
// # What is promised
//
// The words are package plan's. They are about a client that reports once in every round
// of the server, min_reports clients at a time. One goroutine computes them, for at most a fifth
// of the time.
//
// # Limits
//
// Serve takes at most 64 connections, 16 of them with events, with short headers and without
// bodies. A reader that does not read is given up after 10 s.
package dashboard
