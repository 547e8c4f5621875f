// Command light links the vocabulary and every mechanism, and prints their names: the
// smallest program that can encode reports of all rounds. The checks build it for
// WebAssembly.
package main

import (
	"fmt"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/mechanisms"
)

func main() { fmt.Println(strings.Join(fl.Mechanisms(), " ")) }
