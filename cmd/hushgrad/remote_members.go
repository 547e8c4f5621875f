package main

import (
	"net"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
)

// addresses returns the addresses of a party: one, or the addresses of a cluster's members, where
// the leader alone listens.
func (r *remote) addresses() []string { return strings.Split(r.server, ",") }

// nearby reports whether all addresses are of this machine.
func (r *remote) nearby() bool {
	return !slices.ContainsFunc(r.addresses(), func(address string) bool { return !loopback(address) })
}

// untilElected tries calls again for about ten seconds in which no member leads.
const untilElected = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "4s",
	"backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// tryAll makes a connection to members:/// use the address at which somebody listens, now and
// after another member leads.
func tryAll(addresses []string) []grpc.DialOption {
	var state resolver.State
	for _, address := range addresses {
		host, _, _ := net.SplitHostPort(address) // gRPC finds out what is none
		state.Addresses = append(state.Addresses, resolver.Address{Addr: address, ServerName: host})
	}
	members := manual.NewBuilderWithScheme("members")
	members.InitialState(state)
	wait := backoff.DefaultConfig
	wait.BaseDelay, wait.MaxDelay = 100*time.Millisecond, time.Second
	return []grpc.DialOption{
		grpc.WithResolvers(members), grpc.WithDefaultServiceConfig(untilElected),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: wait, MinConnectTimeout: 5 * time.Second}),
	}
}
