// Package structure has no code: its tests keep the imports of the module, its pages and its prose in
// order. Read them to learn which package may use which. Start with floors in structure_test.go.
//
// Imports point to lower floors only, without exceptions. The vocabulary and all mechanisms build
// without gRPC and without Gorgonia, so that small clients (WebAssembly, C libraries, batch
// engines) can hold them. The binary hushgrad holds neither experiments nor examples.
package structure
