package main

import (
	"os"

	// The mechanisms that rounds know by name. Importing a package registers them.
	_ "github.com/hushgrad/hushgrad/auto" // and with it coco, collision and signsketch
	_ "github.com/hushgrad/hushgrad/baseline/dense"
	_ "github.com/hushgrad/hushgrad/baseline/gaussian"
	_ "github.com/hushgrad/hushgrad/baseline/laplace"
	_ "github.com/hushgrad/hushgrad/baseline/privunit"
	_ "github.com/hushgrad/hushgrad/baseline/ternary"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/roundfile"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/hdsum/shares" // to say why its rounds are refused
	_ "github.com/hushgrad/hushgrad/keyvalue/pckv"
	_ "github.com/hushgrad/hushgrad/keyvalue/privkv"
	_ "github.com/hushgrad/hushgrad/keyvalue/succinct"
	_ "github.com/hushgrad/hushgrad/tiers"
)

// readRound reads a round as JSON or as protobuf.
func readRound(name string) (fl.Round, error) {
	file, err := os.Open(name)
	if err != nil {
		return fl.Round{}, fl.Invalid("file", name, "must be readable: %v", err)
	}
	defer file.Close()
	m, err := roundfile.Read(name, file)
	if err != nil {
		return fl.Round{}, err
	}
	return fl.RoundFromProto(m)
}
