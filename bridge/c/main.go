// Command c is libhushgrad, a library for C, C++, Rust and Swift. Use it where Go and Python are
// not at hand. Start with hushgrad.h beside this file, which says how to build and how to call it.
//
// It answers the requests of package bridge/internal/abi. It needs cgo; without cgo the command is empty.
package main

// main is what -buildmode=c-shared and c-archive ask for. It does not run.
func main() {}
