// Package jetstream spreads the work of a server over several processes, which meet in a NATS
// JetStream cluster. Use it when one machine cannot open and count the sealed reports of a round,
// or must not be needed. Start with [Connect] and [Cluster.Serve]; a shuffler uses
// [Cluster.Upstream]. Only rounds with a shuffler can be counted here.
//
// # The log is the truth
//
// The shuffler publishes sealed reports to streams. The number of a partition, which is the
// subject's last part, comes from the first bits of a report's SHA-256, so a copy of a report always
// meets the same shard. Each shard reads one partition and adds up the reports that it has not seen
// before, known by those ids. Its state is a function of the messages that it has read. So it does not
// matter which process does it, how often, or whether two do it at once. Nothing rests on a time window
// or on what a broker remembers of a consumer: there are no consumers. A shard asks for the message
// after the last one.
//
// # Snapshots
//
// After 16 384 reports, or two seconds, a shard puts into the object store the sum of each round
// and the ids that are new since the last snapshot. Then it writes its manifest: the positions up to
// which it has read, and the names of these objects. The manifest is one value, replaced only if it
// is still the one that the shard wrote last. Messages before those positions are then deleted. A
// shard that starts reads its manifest and goes on from there. It keeps the ids in a journal of its
// own, so that a restart on the same disk fetches only what is new. If that disk is lost, all
// come from the object store.
//
// # Lanes
//
// A stream whose leading node is killed takes no messages until the other nodes have elected
// another, which takes 4 to 9 seconds. So there are three streams, the lanes, each with all
// partitions and led by different nodes as far as possible. A publisher whose lane does not
// acknowledge within half a second sends the same message by another lane. If both arrive, the ids show it.
//
// # Who works
//
// Members hold leases, one for each shard and one for the leader. A lease that was not renewed for
// 1.5 seconds, measured by the member that watches it, is taken by another member. Leases only
// avoid double work. A member that lost its lease without knowing fails at its next write of a
// manifest or of the state, whose revisions have moved on. The metrics of a member say whether it leads and
// what it counts.
//
// # The leader
//
// The leader is a server.Server. It answers the operator, clients and the shuffler. Its journal is a
// stream, and every write names the number of the last one, so that two leaders cannot both write.
// To close a round the leader writes a fence into every lane and partition. When all manifests are
// past their fences, it merges the sums and decodes the estimate.
//
// # What brokers see
//
// Brokers see sealed reports, their number and time, rounds, models and estimates. Sums and ids in
// snapshots are encrypted with a key derived from the one to which reports are sealed, which brokers do not
// have. Who can write to the broker can drop, delay or add reports and rounds, so the brokers belong to
// the party that runs the server. docs/scale.md says how to run a cluster.
package jetstream
