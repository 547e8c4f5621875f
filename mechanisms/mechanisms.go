// Package mechanisms registers every mechanism of the module. Import it for its effect in a program that opens
// rounds it does not choose itself: a server, a client of a server, a tool. Start with
//
//	import _ "github.com/hushgrad/hushgrad/mechanisms"
//
// and fl.Mechanisms, which lists the names. A program that needs one mechanism imports the mechanism's own
// package. This package builds without gRPC and without Gorgonia.
package mechanisms

import (
	_ "github.com/hushgrad/hushgrad/auto" // and with it coco, collision and signsketch
	_ "github.com/hushgrad/hushgrad/baseline/dense"
	_ "github.com/hushgrad/hushgrad/baseline/gaussian"
	_ "github.com/hushgrad/hushgrad/baseline/laplace"
	_ "github.com/hushgrad/hushgrad/baseline/privunit"
	_ "github.com/hushgrad/hushgrad/baseline/ternary"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/hdsum/shares"
	_ "github.com/hushgrad/hushgrad/keyvalue/pckv"
	_ "github.com/hushgrad/hushgrad/keyvalue/privkv"
	_ "github.com/hushgrad/hushgrad/keyvalue/succinct"
	_ "github.com/hushgrad/hushgrad/tiers"
)
