package issuer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rpcstatus"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// RegisterClients adds the clients' service to a gRPC server.
func (i *Issuer) RegisterClients(r grpc.ServiceRegistrar) {
	service.RegisterIssuerServer(r, clients{Issuer: i})
}

// RegisterOperator adds the service of the party that opens rounds. Who reaches it can make and
// drop keys.
func (i *Issuer) RegisterOperator(r grpc.ServiceRegistrar) {
	service.RegisterIssuerOperatorServer(r, operator{Issuer: i})
}

var statuses = rpcstatus.Table{
	{Err: ErrNoKey, Code: codes.NotFound},
	{Err: ErrIssued, Code: codes.AlreadyExists},
	{Err: ErrOtherExpiry, Code: codes.AlreadyExists},
	{Err: ErrLimit, Code: codes.ResourceExhausted},
	{Err: journal.ErrFull, Code: codes.ResourceExhausted},
	{Err: ErrBusy, Code: codes.Unavailable},
	{Err: journal.ErrFailed, Code: codes.Unavailable, Brief: true},
	{Err: context.Canceled, Code: codes.Canceled},
	{Err: context.DeadlineExceeded, Code: codes.DeadlineExceeded},
}

// fail returns the status of an error, and logs errors that are unforeseen.
func (i *Issuer) fail(method string, err error) error {
	st, unforeseen := statuses.Of(err, "")
	if unforeseen {
		i.cfg.Logger.Error("internal error", "method", method, "error", err)
	}
	return st
}

// clients implements the clients' service.
type clients struct {
	service.UnimplementedIssuerServer
	*Issuer
}

func (c clients) IssueToken(ctx context.Context, req *service.IssueTokenRequest) (*service.IssueTokenResponse, error) {
	answer, err := c.issue(ctx, "IssueToken", "token_key_id", req.GetTokenKeyId(), "blinded_message", req.GetBlindedMessage())
	if err != nil {
		return nil, err
	}
	return &service.IssueTokenResponse{BlindSignature: answer}, nil
}

func (c clients) IssueTokens(ctx context.Context, req *service.IssueTokensRequest) (*service.IssueTokensResponse, error) {
	answers, err := c.issue(ctx, "IssueTokens", "token_key_ids", req.GetTokenKeyIds(), "blinded_messages", req.GetBlindedMessages())
	if err != nil {
		return nil, err
	}
	return &service.IssueTokensResponse{BlindSignatures: answers}, nil
}

// issue answers a call of either method. ids and blinded have the ids and the messages one after the other, in fields of these names.
func (c clients) issue(ctx context.Context, method, idField string, ids []byte, field string, blinded []byte) (answers []byte, err error) {
	signed := 0
	defer func() { c.metrics.answered(err, signed) }()
	identity, err := c.admit(ctx)
	if err != nil {
		return nil, err
	}
	var messages []Message
	switch n := len(ids) / 32; {
	case len(ids)%32 != 0 || method == "IssueToken" && n != 1:
		return nil, c.fail(method, fl.Invalid(idField, fmt.Sprintf("%d bytes", len(ids)), "must have 32 for each key"))
	case len(blinded) != n*admit.SignatureBytes:
		return nil, c.fail(method, fl.Invalid(field, fmt.Sprintf("%d bytes", len(blinded)), "must have %d for each key", admit.SignatureBytes))
	}
	for id := range slices.Chunk(ids, 32) {
		messages = append(messages, Message{[32]byte(id), blinded[:admit.SignatureBytes]})
		blinded = blinded[admit.SignatureBytes:]
	}
	all, err := c.Issue(ctx, identity, messages...)
	if err != nil {
		return nil, c.fail(method, err)
	}
	signed = len(all)
	return slices.Concat(all...), nil
}

// operator implements the operator's service.
type operator struct {
	service.UnimplementedIssuerOperatorServer
	*Issuer
}

func (o operator) CreateKey(ctx context.Context, req *service.CreateKeyRequest) (*service.CreateKeyResponse, error) {
	var expires time.Time
	if e := req.GetExpires(); e != nil {
		if err := e.CheckValid(); err != nil {
			return nil, o.fail("CreateKey", fl.Invalid("expires", err, "must be a valid timestamp"))
		}
		expires = e.AsTime()
	}
	info, err := o.Issuer.CreateKey(ctx, req.GetRoundId(), expires)
	if err != nil {
		return nil, o.fail("CreateKey", err)
	}
	return &service.CreateKeyResponse{Key: info.proto()}, nil
}

func (o operator) DropKey(_ context.Context, req *service.DropKeyRequest) (*service.DropKeyResponse, error) {
	if err := o.Issuer.DropKey(req.GetRoundId()); err != nil {
		return nil, o.fail("DropKey", err)
	}
	return &service.DropKeyResponse{}, nil
}

func (o operator) ListKeys(context.Context, *service.ListKeysRequest) (*service.ListKeysResponse, error) {
	var resp service.ListKeysResponse
	for _, info := range o.Keys() {
		resp.Keys = append(resp.Keys, info.proto())
	}
	return &resp, nil
}

func (k KeyInfo) proto() *service.IssuerKey {
	return &service.IssuerKey{
		RoundId: k.RoundID, PublicKey: k.PublicKey, OuterPublicKey: k.OuterPublicKey, Expires: timestamppb.New(k.Expires), Issued: uint64(k.Issued),
	}
}
