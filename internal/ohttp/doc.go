// Package ohttp encapsulates requests and responses as Oblivious HTTP does (RFC 9458), and encodes them in
// Binary HTTP (RFC 9292). A client uses it to send a request that its relay cannot read. A gateway uses it to
// answer. Start with [ParseConfig] and [Config.Seal], or with [ParseKey] and [Keys.Open].
//
// There is one suite: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM, from crypto/hpke. Messages of
// Binary HTTP have known lengths. Others are refused.
package ohttp

// The media types of RFC 9458.
const (
	KeysType     = "application/ohttp-keys"
	RequestType  = "message/ohttp-req"
	ResponseType = "message/ohttp-res"
)

// Overhead is at least what an encapsulation adds to a message, in bytes.
const Overhead = 64

// GatewayPath is where a gateway answers, by RFC 9540.
const GatewayPath = "/.well-known/ohttp-gateway"

// ProblemType is the media type of an answer of a gateway to a request that it cannot open, and KeyProblem is such an
// answer to a request for a key that it does not have.
const (
	ProblemType = "application/problem+json"
	KeyProblem  = `{"type":"https://iana.org/assignments/http-problem-types#ohttp-key","title":"key identifier unknown"}`
)
