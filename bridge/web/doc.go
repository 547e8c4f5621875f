// Command web builds the npm package of hushgrad for browsers. Use it before you publish or serve the
// package. Start with go run ./bridge/web, which writes bridge/web/dist.
//
// index.js and index.d.ts are the package's interface, README.md says how to use it. The program that
// index.js runs is ./wasm: package bridge/internal/abi, which Python and C use, too.
package main
