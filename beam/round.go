package main

import (
	"os"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
	_ "github.com/hushgrad/hushgrad/mechanisms"
)

// readRound reads a round as JSON or as protobuf.
func readRound(name string) (fl.Round, error) {
	file, err := os.Open(name)
	if err != nil {
		return fl.Round{}, fl.Invalid("file", name, "must be readable: %v", err)
	}
	defer file.Close()
	m, err := reportfile.ReadRound(name, file)
	if err != nil {
		return fl.Round{}, err
	}
	return fl.RoundFromProto(m)
}
