package issuer

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rpcstatus"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
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
	{Err: keeper.ErrFailed, Code: codes.Unavailable},
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

func (c clients) IssueToken(ctx context.Context, req *service.IssueTokenRequest) (resp *service.IssueTokenResponse, err error) {
	defer func() { c.metrics.answered(err) }()
	identity, err := c.admit(ctx)
	if err != nil {
		return nil, err
	}
	id := req.GetTokenKeyId()
	if len(id) != 32 {
		return nil, c.fail("IssueToken", fl.Invalid("token_key_id", fmt.Sprintf("%d bytes", len(id)), "must have 32"))
	}
	answer, err := c.Issue(ctx, identity, [32]byte(id), req.GetBlindedMessage())
	if err != nil {
		return nil, c.fail("IssueToken", err)
	}
	return &service.IssueTokenResponse{BlindSignature: answer}, nil
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
