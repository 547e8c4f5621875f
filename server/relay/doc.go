// Package relay carries requests of Oblivious HTTP (RFC 9458) from clients to one gateway, and the responses back. Use it
// so that the shuffler or the issuer behind the gateway does not see the addresses of its clients. Start with [New] and
// [Relay.Serve].
//
// The relay sees who sends something, when, and how long it is, padded. It cannot read what it carries: requests are
// encrypted to the gateway. The gateway sees the relay alone. So run the relay apart from the party behind the gateway. A
// relay and that party together know what that party alone knows without a relay.
//
// It passes on the message and nothing else of a request. It keeps no addresses, and its log and its figures have none.
package relay
