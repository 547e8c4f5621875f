package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	statuspb "google.golang.org/genproto/googleapis/rpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/origin"
)

// Relay says how a client reaches a party through a relay (RFC 9458). The relay sees the client's address and nothing that it
// sends. The party, a shuffler, an issuer or a server, sees what is sent and the address of the relay. The two must not work
// together.
type Relay struct {
	// URL is the relay's: https, or http on this machine. Required.
	URL string
	// GatewayKey is the key configuration of the party's gateway, as hushgrad relay key prints it. Required. All clients must
	// have the same one: a party that gives each client a key of its own knows who sent what.
	GatewayKey string
	// Bearer is the secret by which an issuer knows the client. It is encrypted to the gateway. Default: none.
	Bearer Bearer
	// HTTP sends the messages. Default: one with the system's authorities that follows no redirects.
	HTTP *http.Client
}

// Relayed is a connection to a party through a relay, for [New] and for Options.Issuer. Requests are padded to powers of two of at
// least 4 KiB, so that the relay sees the same length of all that are shorter. There are no streams: a model is not fetched through a relay. It is safe
// for concurrent use.
type Relayed struct {
	relay Relay
	key   ohttp.Config
}

var _ grpc.ClientConnInterface = (*Relayed)(nil)

// NewRelayed returns a connection, on which nothing has been sent. The error is a *fl.ParamError for URL or GatewayKey.
func NewRelayed(r Relay) (*Relayed, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.User != nil || origin.Check("", u.Scheme+"://"+u.Host) != nil {
		return nil, fmt.Errorf("client: relayed: %w", fl.Invalid("URL", r.URL, "must be the URL of a relay: https:// and a host, such as https://relay.example:7129, or http:// on this machine"))
	}
	key, err := ohttp.ParseConfig("GatewayKey", r.GatewayKey)
	if err != nil {
		return nil, fmt.Errorf("client: relayed: %w", err)
	}
	if r.HTTP == nil {
		r.HTTP = &http.Client{
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &Relayed{r, key}, nil
}

// Close closes connections to the relay that are idle.
func (r *Relayed) Close() error {
	r.relay.HTTP.CloseIdleConnections()
	return nil
}

// NewStream implements grpc.ClientConnInterface. It refuses.
func (r *Relayed) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "there are no streams through a relay: fetch a model from where everybody can see it")
}

const (
	protoType = "application/proto"
	// maxRelayedBytes bounds a response.
	maxRelayedBytes = 8<<20 + ohttp.Overhead
)

// Invoke implements grpc.ClientConnInterface, with the errors of gRPC. Options have no effect.
func (r *Relayed) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	content, err := proto.Marshal(args.(proto.Message))
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	in := &ohttp.Request{
		Method: http.MethodPost, Scheme: "https", Authority: "hushgrad.invalid", Path: method, Content: content,
		Header: http.Header{"Content-Type": {protoType}, "Connect-Protocol-Version": {"1"}},
	}
	if r.relay.Bearer != "" {
		in.Header.Set("Authorization", "Bearer "+string(r.relay.Bearer))
	}
	sealed, answer, err := r.key.Seal(in.Encode())
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	if sealed, err = r.carry(ctx, sealed); err != nil {
		return err
	}
	message, err := answer.Open(sealed)
	if err != nil {
		return status.Errorf(codes.Internal, "the relay's answer is not the gateway's: %v", err)
	}
	out, err := ohttp.DecodeResponse(message)
	if err != nil {
		return status.Errorf(codes.Internal, "the gateway's answer: %v", err)
	}
	if out.Status != http.StatusOK {
		return connectError(out)
	}
	if kind := out.Header.Get("Content-Type"); kind != protoType {
		return status.Errorf(codes.Internal, "the gateway's answer has the Content-Type %q", kind)
	}
	if err := proto.Unmarshal(out.Content, reply.(proto.Message)); err != nil {
		return status.Errorf(codes.Internal, "the gateway's answer: %v", err)
	}
	return nil
}

// carry sends a message to the relay and returns what the gateway has answered.
func (r *Relayed) carry(ctx context.Context, sealed []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.relay.URL, bytes.NewReader(sealed))
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	req.Header = http.Header{"Content-Type": {ohttp.RequestType}, "User-Agent": {""}} // "" is none
	resp, err := r.relay.HTTP.Do(req)
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		return nil, status.Errorf(codes.Unavailable, "relay: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRelayedBytes+1))
	kind := resp.Header.Get("Content-Type")
	switch {
	case err != nil:
		return nil, status.Errorf(codes.Unavailable, "relay: %v", err)
	case len(body) > maxRelayedBytes:
		return nil, status.Errorf(codes.ResourceExhausted, "relay: an answer of more than %d bytes", maxRelayedBytes)
	case resp.StatusCode == http.StatusOK && kind == ohttp.ResponseType:
		return body, nil
	case kind == ohttp.ProblemType && string(body) == ohttp.KeyProblem:
		return nil, status.Error(codes.FailedPrecondition, "the gateway does not have the client's key (GatewayKey; --relay-key or --issuer-relay-key): get the key configuration that all clients have now")
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return nil, status.Errorf(codes.Unavailable, "relay: %s: %.200s", resp.Status, body)
	}
	return nil, status.Errorf(codes.Internal, "relay: %s: %.200s", resp.Status, body)
}

// connectError is the error of a response, in the form of Connect, as gRPC has it.
func connectError(out *ohttp.Response) error {
	var said struct {
		Code    connect.Code
		Message string
		Details []struct{ Type, Value string }
	}
	if err := json.Unmarshal(out.Content, &said); err != nil || said.Code == 0 {
		return status.Errorf(codes.Internal, "gateway: status %d: %.200s", out.Status, out.Content)
	}
	as := &statuspb.Status{Code: int32(said.Code), Message: said.Message}
	for _, d := range said.Details {
		if value, err := base64.RawStdEncoding.DecodeString(d.Value); err == nil {
			as.Details = append(as.Details, &anypb.Any{TypeUrl: "type.googleapis.com/" + d.Type, Value: value})
		}
	}
	return status.ErrorProto(as)
}
