// Command hushgrad-broker runs a broker for a cluster of hushgrad: nats-server with JetStream, which forces every message to
// disk. Use it where no nats-server runs yet. Start with
//
//	hushgrad-broker --data DIR
//
// and hushgrad serve --nats nats://127.0.0.1:4222 --nats-replicas 1. One machine alone needs no broker.
package main

import "github.com/hushgrad/hushgrad/internal/command"

func main() { command.Main("hushgrad-broker", run) }
