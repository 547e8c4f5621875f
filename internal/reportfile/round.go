package reportfile

import (
	"bytes"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

// MaxRoundBytes bounds what is read: the JSON form of the largest round is smaller.
const MaxRoundBytes = 1 << 20

// ReadRound reads a round that may be incomplete, in either form. Errors name the file and are a
// *fl.ParamError.
func ReadRound(name string, in io.Reader) (*pb.Round, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxRoundBytes+1))
	if err != nil {
		return nil, fl.Invalid("file", name, "must be readable: %v", err)
	}
	if len(data) > MaxRoundBytes {
		return nil, fl.Invalid("file", name, "must have at most %d bytes", MaxRoundBytes)
	}
	if len(data) == 0 {
		return nil, fl.Invalid("file", name, "must hold a round, as hushgrad round prints it, and is empty")
	}
	var m pb.Round
	// A protobuf round starts with the tag of its id, which is a newline, the id's
	// length, at most 64, and the id: no brace among them.
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = protojson.Unmarshal(data, &m)
	} else {
		err = proto.Unmarshal(data, &m)
	}
	if err != nil {
		return nil, fl.Invalid("file", name, "must hold a round, as hushgrad round prints it: %v", err)
	}
	return &m, nil
}
