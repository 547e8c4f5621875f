// Command hushgrad-draw draws the pictures of hushgrad. Put it beside hushgrad, or into the PATH. Start with
// hushgrad account amplify --dim 7850 --plot curve.svg, which starts it.
//
// It is a program of its own because of its fonts and libraries: hushgrad would be a quarter larger with them.
package main

import (
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

func main() { command.Main("hushgrad-draw", paint.Run) }
