package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/cmd/hushgrad-broker/broker"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// run is the command: a broker until ctx ends.
func run(ctx context.Context, args []string, std command.Streams) error {
	f := flag.NewFlagSet("hushgrad-broker", flag.ContinueOnError)
	f.SetOutput(std.Out)
	cfg := broker.Config{Logger: slog.New(slog.NewTextHandler(std.Err, nil))}
	f.StringVar(&cfg.Dir, "data", "", "`directory` where messages are kept; required unless the file of --config says it")
	f.StringVar(&cfg.Listen, "listen", "", "loopback `address` for members and the shuffler; 127.0.0.1:4222 when neither it nor --config is given")
	f.StringVar(&cfg.File, "config", "", "configuration `file` of nats-server, with routes to other brokers, TLS and accounts")
	f.Usage = func() {
		fmt.Fprint(std.Out, "hushgrad-broker: a broker for a cluster of hushgrad\n\n")
		command.PrintFlags(std.Out, f)
	}
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	if cfg.File == "" {
		if cfg.Dir == "" {
			return fl.Invalid("--data", "", "is required without --config")
		}
		if cfg.Listen == "" {
			cfg.Listen = "127.0.0.1:4222"
		}
	}
	if cfg.Listen != "" && !loopback(cfg.Listen) {
		return fl.Invalid("--listen", cfg.Listen, "must be a loopback address with a port: others need TLS and accounts, which --config has")
	}
	b, err := broker.Start(cfg)
	if err != nil {
		return err
	}
	defer b.Close()
	cfg.Logger.Info("serving", "url", b.URL(), "data", cfg.Dir, "config", cfg.File)
	<-ctx.Done()
	return nil
}

func loopback(address string) bool {
	at, err := net.ResolveTCPAddr("tcp", address)
	return err == nil && at.IP.IsLoopback()
}
