// Command process is a server in a process of its own, so that its memory and its processor
// time can be read and that it can be killed. Package bench/serving builds it and starts it.
// Start with that package; on its own the command is of no use.
//
// It listens on a free port of the loopback interface and prints the address. It ends when its
// standard input does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	flag "github.com/spf13/pflag"

	_ "github.com/hushgrad/hushgrad/coco" // the mechanism of the rounds

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal/disk"
	"github.com/hushgrad/hushgrad/server/seal"
)

func main() { command.Main("process", run) }

func run(ctx context.Context, args []string, s command.Streams) (err error) {
	f := flag.NewFlagSet("process", flag.ContinueOnError)
	f.SetOutput(s.Err)
	role := f.String("role", "server", "server: a parameter server; drop: gRPC alone, which receives reports and drops them; broker: a NATS broker; member: of a cluster; issuer: of tokens")
	processors := f.Int("processors", 0, "`number` of processors that the process uses at the same time; 0: all")
	var in cluster
	in.bind(f)
	var of admission
	of.bind(f)
	data := f.String("data", "", "`directory` of the journal; empty: a server's journal is in memory")
	keys := f.String("seal-keys", "", "`directory` of the keys of rounds with a shuffler; empty: there are none")
	profile := f.String("cpuprofile", "", "`file` for a profile of the processor time")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	roles := map[string]func(context.Context) error{
		"server": func(ctx context.Context) error { return serve(ctx, *data, *keys, s.Out) },
		"drop":   func(ctx context.Context) error { return dropReports(ctx, s.Out) },
		"broker": func(ctx context.Context) error { return runBroker(ctx, *data, s.Out) },
		"member": func(ctx context.Context) error { return in.serve(ctx, *data, *keys, s.Out) },
		"issuer": func(ctx context.Context) error { return of.serve(ctx, *data, s.Out) },
	}
	work := roles[*role]
	if work == nil {
		return fl.Invalid("--role", *role, "must be server, drop, broker, member or issuer")
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return errors.Join(err, file.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, file.Close())
		}()
	}
	runtime.GOMAXPROCS(*processors) // 0 changes nothing
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, s.In) // until whoever started this process is gone
		stop()
	}()
	return work(ctx)
}

// listen listens on a free port and prints it.
func listen(out io.Writer) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Fprintln(out, l.Addr())
	}
	return l, err
}

// serve is the server that is measured. It keeps metrics, as hushgrad serve does.
func serve(ctx context.Context, data, keys string, out io.Writer) (failed error) {
	cfg := server.Config{Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}
	if data != "" {
		kept, err := disk.Open(data, disk.Options{Logger: cfg.Logger})
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, kept.Close()) }()
		cfg.Journal = kept
	}
	if keys != "" {
		found, err := seal.OpenKeys(keys, seal.X25519)
		if err != nil {
			return err
		}
		cfg.Seal = found
	}
	srv, err := server.New(cfg)
	if err != nil {
		return err
	}
	l, err := listen(out)
	if err != nil {
		srv.Close()
		return err
	}
	return srv.Serve(ctx, server.Listeners{Clients: l})
}

// dropReports is the same service with nothing behind it: what gRPC alone carries.
func dropReports(ctx context.Context, out io.Writer) error {
	l, err := listen(out)
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, dropped{})
	context.AfterFunc(ctx, g.Stop)
	return g.Serve(l)
}

type dropped struct {
	service.UnimplementedRoundsServer
}

// SubmitReports says how many bytes of reports came.
func (dropped) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	var resp service.SubmitReportsResponse
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&resp)
		}
		if err != nil {
			return err
		}
		resp.Accepted += uint64(len(req.GetReports()))
	}
}
