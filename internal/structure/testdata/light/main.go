// Command light links the vocabulary and every mechanism, and prints their names: the
// smallest program that can encode reports of all rounds. The checks build it for
// WebAssembly.
package main

import (
	"fmt"
	"strings"

	_ "github.com/hushgrad/hushgrad/auto"
	_ "github.com/hushgrad/hushgrad/baseline/dense"
	_ "github.com/hushgrad/hushgrad/baseline/gaussian"
	_ "github.com/hushgrad/hushgrad/baseline/laplace"
	_ "github.com/hushgrad/hushgrad/baseline/privunit"
	_ "github.com/hushgrad/hushgrad/baseline/ternary"
	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/hdsum/shares"
	_ "github.com/hushgrad/hushgrad/keyvalue/pckv"
	_ "github.com/hushgrad/hushgrad/keyvalue/privkv"
	_ "github.com/hushgrad/hushgrad/keyvalue/succinct"
	_ "github.com/hushgrad/hushgrad/tiers"
)

func main() { fmt.Println(strings.Join(fl.Mechanisms(), " ")) }
