// Command bench runs the experiments of the papers and prints their numbers beside ours.
// Use it to check a claim or to measure a change. Start with go run ./bench, which lists
// the experiments.
package main

import (
	"github.com/hushgrad/hushgrad/bench/laboratory"
	_ "github.com/hushgrad/hushgrad/examples/mnist/dataset/cloth" // adds features
)

func main() { laboratory.Main("go run ./bench") }
