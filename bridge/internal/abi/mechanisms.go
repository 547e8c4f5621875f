package abi

// The mechanisms that rounds know by name. Importing a package registers them.
import (
	_ "github.com/hushgrad/hushgrad/auto" // and with it coco, collision and signsketch
	_ "github.com/hushgrad/hushgrad/baseline/dense"
	_ "github.com/hushgrad/hushgrad/baseline/gaussian"
	_ "github.com/hushgrad/hushgrad/baseline/laplace"
	_ "github.com/hushgrad/hushgrad/baseline/privunit"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/hdsum/shares"
	_ "github.com/hushgrad/hushgrad/tiers"
)
