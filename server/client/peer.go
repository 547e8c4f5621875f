package client

import (
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/hushgrad/hushgrad/fl"
)

// checkPeer returns nil if the other end of a connection is the shuffler that a round names, as far
// as the connection says who it is.
func checkPeer(from peer.Peer, shuffler string) error {
	info, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return nil
	}
	certificates := info.State.PeerCertificates
	if len(certificates) == 0 {
		return fl.Invalid("shuffler", shuffler, "must have a certificate")
	}
	if err := certificates[0].VerifyHostname(shuffler); err != nil {
		return fl.Invalid("shuffler", shuffler, "must be the party at the other end of the connection: %v", err)
	}
	return nil
}
