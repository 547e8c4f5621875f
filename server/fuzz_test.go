package server

import (
	"context"
	"log/slog"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

// Whatever a client sends as a batch is counted or refused as the client's own
// mistake; nothing is an internal error.
func FuzzSubmit(f *testing.F) {
	s, err := New(Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	opened, err := operatorService{Server: s}.OpenRound(context.Background(), &service.OpenRoundRequest{Round: &pb.Round{
		Id: "r", Mechanism: "coco", Dim: 8, Scale: 1, Epsilon: 1, MinReports: 1,
		Params:     map[string]*pb.Value{"sparsity": {Kind: &pb.Value_Integer{Integer: 2}}},
		PublicSeed: make([]byte, 31),
	}})
	if status.Code(err) != codes.InvalidArgument {
		f.Fatalf("a public seed of 31 bytes: %v, %v", opened, err)
	}
	description := fl.Round{
		ID: "r", Mechanism: "coco", Dim: 8, Scale: 1, Epsilon: 1, MinReports: 1,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: [32]byte{1},
	}
	opened, err = operatorService{Server: s}.OpenRound(context.Background(), &service.OpenRoundRequest{Round: description.Proto()})
	if err != nil {
		f.Fatal(err)
	}
	description, err = fl.RoundFromProto(opened.GetRound())
	if err != nil {
		f.Fatal(err)
	}
	digest, err := description.Digest()
	if err != nil {
		f.Fatal(err)
	}
	good, err := proto.Marshal(&service.SubmitReportsRequest{
		RoundId: "r", RoundDigest: digest[:], BatchKey: make([]byte, 16), Reports: []byte{1, 2, 3, 4, 0},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:30])
	f.Fuzz(func(t *testing.T, data []byte) {
		var req service.SubmitReportsRequest
		if proto.Unmarshal(data, &req) != nil {
			return // gRPC refuses it before the server sees it
		}
		_, err := roundsService{Server: s}.submit(context.Background(), &req)
		if err == nil {
			return
		}
		if st, unforeseen := statuses.Of(err, ""); unforeseen || status.Code(st) == codes.Internal {
			t.Fatalf("%v: %v", &req, err)
		}
	})
}
