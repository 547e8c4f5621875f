// Package mechanisms registers every mechanism of the module. Import it for its effect in a program that opens
// rounds it does not choose itself: a server, a client of a server, a tool. Start with
//
//	import _ "github.com/hushgrad/hushgrad/mechanisms"
//
// and fl.Mechanisms, which lists the names. A program that needs one mechanism imports the mechanism's own
// package. [Auto] chooses among the sparse ones. This package builds without gRPC and without Gorgonia.
package mechanisms

import (
	_ "github.com/hushgrad/hushgrad/baseline"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/keyvalue"
	_ "github.com/hushgrad/hushgrad/privunit"
	_ "github.com/hushgrad/hushgrad/tiers"
)
