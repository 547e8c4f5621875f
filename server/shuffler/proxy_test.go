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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
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

// A proxy that changes what a client sends moves no mean. Where it changes bytes, the client gets an error that names the report.
// Where it puts a share of its own behind a report, sealed as the client's, the report does not count, and the server's log names it.
// Server, shuffler and proxy are at ports, the first two in processes of their own.
func TestAShareThatWasChangedOnItsWayDoesNotCount(t *testing.T) {
	t.Parallel() // it mostly waits
	const clients = 30
	dir := t.TempDir()
	parameter := startProcess(t, "server", dir, "")
	shareKey := shareKeyIn(t, dir)
	shuffler := startProcess(t, "shuffler", dir, parameter.address)
	upstream, err := dial(parameter.address)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	operator := client.NewOperator(upstream)
	r := newSealedRound(t, func(r *fl.Round) {
		sharedRound(r)
		r.Dim, r.TargetReports, r.SealKey, r.ShareKey = 16, clients, nil, shareKey
		opened, err := operator.OpenRound(t.Context(), *r)
		if err != nil {
			t.Fatal(err)
		}
		*r = opened
	})
	sent := 0
	var replaced string // id
	address := startProxy(t, shuffler.address, func(item []byte) {
		sealed, second := item[:r.format.Sealed], item[r.format.Sealed:]
		switch sent++; sent {
		case 4:
			second[len(second)/2] ^= 0x80
		case 9:
			sealed[len(sealed)/2] ^= 0x80
		case 14:
			copy(second, r.sealShare(t, sealed, make([]byte, r.format.Tag+r.format.Second)))
			replaced = fmt.Sprintf("%x", seal.ID(sealed))
		}
	})
	conn, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{
		MaxEpsilon: 5, MaxDelta: 1e-6, Mechanisms: []string{hdsum.SharesName},
		Shuffled: &fl.ShuffledPolicy{
			Shufflers: []string{testName}, SealKeys: [][32]byte{seal.FingerprintOf(r.SealKey)}, ShareKeys: [][32]byte{seal.FingerprintOf(shareKey)},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range clients + 2 {
		p, err := c.Join(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.Encode(nil, make([]float64, r.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Submit(t.Context(), [][]byte{report})
		if changed := n == 3 || n == 8; !changed && err != nil {
			t.Fatal(err)
		} else if changed && (status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "reports[0]") || !strings.Contains(err.Error(), seal.ErrSealed.Error())) {
			t.Errorf("client %d: %v, want an error that names the report", n, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := operator.Estimate(ctx, "r", true)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, &parameter.log, &shuffler.log)
	}
	if got.Reports != clients-1 {
		t.Errorf("%d reports count, want %d without the one whose share was replaced", got.Reports, clients-1)
	}
	for i, v := range got.Mean().Value { // of zeros, with noise
		if stdErr := got.Mean().StdErr[i]; !(math.Abs(v) <= 8*stdErr) {
			t.Errorf("mean[%d] = %g ± %g", i, v, stdErr)
		}
	}
	if err := parameter.end(syscall.SIGTERM); err != nil { // its log is complete then
		t.Errorf("the server: %v", err)
	}
	if !strings.Contains(parameter.log.String(), replaced) {
		t.Errorf("the log of the server does not name report %s:\n%s", replaced, &parameter.log)
	}
}
