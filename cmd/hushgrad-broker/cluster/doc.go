// Package cluster has no code: its tests run clusters of hushgrad at real brokers. Read them to learn what a cluster outlives. Start
// with TestAKilledClusterLosesNothing.
//
// They are tests of package server/jetstream and of the commands hushgrad serve and hushgrad shuffle. They are here, and not beside
// these, because nats-server takes long to compile: go test ./... of the main module does without it.
package cluster
