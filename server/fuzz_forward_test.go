package server

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
)

// Whatever a shuffler forwards, and whatever a client has sealed, is counted, rejected or refused;
// nothing is an internal error.
func FuzzForwardReports(f *testing.F) {
	rounds := []*shuffler{
		shuffle(f, Config{}, func(r *fl.Round) {
			r.Mechanism, r.Dim, r.Params = "coco", 8, fl.Params{"sparsity": fl.Int(2)}
		}),
		shuffle(f, Config{}, func(r *fl.Round) {
			r.Mechanism, r.Dim, r.Delta, r.MinReports = hdsum.SharesName, 8, 1e-6, 2
			r.Params, r.ShareKey = nil, shareKey(f)
		}),
		shuffle(f, Config{}, func(r *fl.Round) {
			r.Mechanism, r.Dim, r.Delta, r.MinReports = hdsum.SharesName, 3, 1e-6, 2
			r.Params, r.ShareKey = fl.Params{hdsum.ParamProof: fl.Text(hdsum.ProofPrio3)}, shareKey(f)
		}),
	}
	for _, sh := range rounds {
		good, err := proto.Marshal(&service.ForwardReportsRequest{RoundId: "r", RoundDigest: sh.round.digest[:], Sealed: sh.seals(string(make([]byte, sh.round.sealing.format.Report+sh.round.sealing.format.Tag)))[0],
			ShareTags: make([]byte, sh.round.sealing.format.Tag), PrepShares: make([]byte, sh.round.sealing.prepBytes()), VerifyKey: make([]byte, len(fl.VerifyKey{}))})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(good, []byte{})
		f.Add(good[:40], []byte{1, 2, 3, 4, 0})
	}
	f.Fuzz(func(t *testing.T, data, plaintext []byte) {
		for _, sh := range rounds {
			var req service.ForwardReportsRequest
			if proto.Unmarshal(data, &req) == nil { // gRPC refuses others before the server sees them
				if _, err := sh.ForwardReports(context.Background(), &req); status.Code(err) == codes.Internal {
					t.Fatalf("%v: %v", &req, err)
				}
			}
			format := sh.round.sealing.format
			plaintext = append(append(plaintext, make([]byte, format.Report)...)[:format.Report:format.Report], make([]byte, format.Tag)...)
			one, err := sh.sealer.Seal(nil, plaintext)
			if err != nil {
				t.Fatal(err)
			}
			before := sh.round.head().reports
			rejected, err := sh.send(one, one)
			if counted := sh.round.head().reports - before; err != nil || int(counted) != 1-len(rejected)/2 || len(rejected) == 1 {
				t.Fatalf("a sealed %x: %d counted, %v rejected, %v", plaintext, counted, rejected, err)
			}
			if err := sh.fits(data); status.Code(err) == codes.Internal {
				t.Fatal(err)
			}
		}
	})
}

// fits checks a sum of the second server, and does not end the round.
func (sh *shuffler) fits(second []byte) error {
	err := sh.round.fits(second)
	if err != nil {
		err, _ = statuses.Of(err, "")
	}
	return err
}
