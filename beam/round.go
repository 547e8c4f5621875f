package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	// The mechanisms that rounds know by name. Importing a package registers them.
	_ "github.com/hushgrad/hushgrad/auto" // and with it coco, collision and signsketch
	_ "github.com/hushgrad/hushgrad/baseline/dense"
	_ "github.com/hushgrad/hushgrad/baseline/gaussian"
	_ "github.com/hushgrad/hushgrad/baseline/laplace"
	_ "github.com/hushgrad/hushgrad/baseline/privunit"
	_ "github.com/hushgrad/hushgrad/baseline/ternary"
	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/hdsum/shares" // to say why its rounds are refused
	_ "github.com/hushgrad/hushgrad/keyvalue/pckv"
	_ "github.com/hushgrad/hushgrad/keyvalue/privkv"
	_ "github.com/hushgrad/hushgrad/keyvalue/succinct"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
	_ "github.com/hushgrad/hushgrad/tiers"
)

// maxRoundFile bounds a file with a round.
const maxRoundFile = 64 << 10

// readRound reads a round as JSON or as protobuf.
func readRound(name string) (fl.Round, error) {
	file, err := os.Open(name)
	if err != nil {
		return fl.Round{}, fl.Invalid("file", name, "must be readable: %v", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRoundFile+1))
	if err != nil {
		return fl.Round{}, fl.Invalid("file", name, "must be readable: %v", err)
	}
	if len(data) > maxRoundFile {
		return fl.Round{}, fl.Invalid("file", fmt.Sprintf("more than %d bytes", maxRoundFile), "must have at most that")
	}
	var m pb.Round
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = protojson.Unmarshal(data, &m)
	} else {
		err = proto.Unmarshal(data, &m)
	}
	if err != nil {
		return fl.Round{}, fl.Invalid("file", name, "must hold a round: %v", err)
	}
	return fl.RoundFromProto(&m)
}
