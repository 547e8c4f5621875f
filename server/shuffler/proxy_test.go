package shuffler

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// proxy stands between clients and a shuffler, and changes what clients send.
type proxy struct {
	service.UnimplementedRoundsServer
	shuffler service.RoundsClient
	change   func(reports []byte)
}

// startProxy returns the address of a proxy.
func startProxy(t *testing.T, shuffler string, change func([]byte)) string {
	t.Helper()
	to, err := dial(shuffler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, &proxy{shuffler: service.NewRoundsClient(to), change: change})
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return l.Addr().String()
}

func (p *proxy) GetRound(ctx context.Context, req *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	return p.shuffler.GetRound(ctx, req)
}

func (p *proxy) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	out, err := p.shuffler.SubmitReports(stream.Context())
	if err != nil {
		return err
	}
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		p.change(req.Reports)
		if err := out.Send(req); err != nil {
			break // CloseAndRecv has the reason
		}
	}
	resp, err := out.CloseAndRecv()
	if err != nil {
		return err
	}
	return stream.SendAndClose(resp)
}

// A proxy that changes two bytes of what a client sends moves no mean: the report does not count, whichever
// server's share was changed, and the server's log names it. Server, shuffler and proxy are at ports, the
// first two in processes of their own.
func TestAShareThatWasChangedOnItsWayDoesNotCount(t *testing.T) {
	const clients = 30
	dir := t.TempDir()
	parameter := startProcess(t, "server", dir, "")
	shuffler := startProcess(t, "shuffler", dir, parameter.address)
	upstream, err := dial(parameter.address)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	operator := client.NewOperator(upstream)
	r := newSealedRound(t, func(r *fl.Round) {
		r.Mechanism, r.Params, r.Epsilon, r.Delta = shares.Name, nil, 5, 1e-6
		r.Dim, r.MinReports, r.TargetReports, r.SealKey = 16, 20, clients, nil
		opened, err := operator.OpenRound(t.Context(), *r)
		if err != nil {
			t.Fatal(err)
		}
		*r = opened
	})
	sent := 0
	changed := map[string]bool{} // ids
	address := startProxy(t, shuffler.address, func(item []byte) {
		at := 0
		switch sent++; sent {
		case 4: // the second server's share: two bytes of its middle
			at = r.format.Sealed + r.format.Tag + r.format.Share/2
		case 9: // the key of its tag
			at = r.format.Sealed
		case 14: // the first server's share, which is sealed
			at = r.format.Sealed / 2
		default:
			return
		}
		item[at] ^= 0x80
		item[at+1] ^= 0x80
		id := seal.ID(item[:r.format.Sealed])
		changed[fmt.Sprintf("%x", id)] = true
	})
	conn, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{
		MaxEpsilon: 5, MaxDelta: 1e-6, Mechanisms: []string{shares.Name},
		Shuffled: &fl.ShuffledPolicy{Shufflers: []string{testName}, SealKeys: [][32]byte{seal.FingerprintOf(r.SealKey)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range clients {
		p, err := c.Join(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.Encode(nil, make([]float64, r.Dim), nil)
		if err == nil {
			_, err = p.Submit(t.Context(), [][]byte{report})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := operator.Estimate(ctx, "r", true)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, &parameter.log, &shuffler.log)
	}
	if len(changed) != 3 || got.Reports != clients-3 {
		t.Errorf("%d reports count, want %d without the %d that were changed", got.Reports, clients-3, len(changed))
	}
	for i, v := range got.Mean().Value { // of zeros, with noise
		if stdErr := got.Mean().StdErr[i]; !(math.Abs(v) <= 8*stdErr) {
			t.Errorf("mean[%d] = %g ± %g", i, v, stdErr)
		}
	}
	if err := parameter.end(syscall.SIGTERM); err != nil { // its log is complete then
		t.Errorf("the server: %v", err)
	}
	for id := range changed {
		if !strings.Contains(parameter.log.String(), id) {
			t.Errorf("the log of the server does not name report %s:\n%s", id, &parameter.log)
		}
	}
}
