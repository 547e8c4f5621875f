package issuer

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// serve offers both services and returns the address.
func serve(t *testing.T, i *Issuer, creds credentials.TransportCredentials) string {
	t.Helper()
	g := grpc.NewServer(grpc.Creds(creds))
	i.RegisterClients(g)
	i.RegisterOperator(g)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return l.Addr().String()
}

func dial(t *testing.T, address string, creds credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// wantStatus checks the code of a status and the field that it names.
func wantStatus(t *testing.T, what string, err error, code codes.Code, field string) {
	t.Helper()
	named := ""
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			named = bad.GetFieldViolations()[0].GetField()
		}
	}
	if status.Code(err) != code || named != field {
		t.Errorf("%s: got %v for %q, want %v for %q", what, err, named, code, field)
	}
}

// byHeader admits whoever gives a name.
func byHeader(ctx context.Context) (string, error) {
	return strings.Join(metadata.ValueFromIncomingContext(ctx, "name"), ""), nil
}

func TestTheServicesAnswerWithTheCodesTheyPromise(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory(), Admit: byHeader, MaxKeys: 2})
	conn := dial(t, serve(t, i, insecure.NewCredentials()), insecure.NewCredentials())
	operator, issuer := service.NewIssuerOperatorClient(conn), service.NewIssuerClient(conn)
	ctx := t.Context()
	end := timestamppb.New(time.Now().Add(time.Hour))
	made, err := operator.CreateKey(ctx, &service.CreateKeyRequest{RoundId: "r1", Expires: end})
	if err != nil {
		t.Fatal(err)
	}
	key := made.GetKey()
	if key.GetRoundId() != "r1" || key.GetIssued() != 0 || !key.GetExpires().AsTime().Equal(end.AsTime()) {
		t.Errorf("key %v", key)
	}
	digest := [32]byte{1}
	r, err := admit.NewRequest(key.GetPublicKey(), digest)
	if err != nil {
		t.Fatal(err)
	}
	other, err := admit.NewRequest(key.GetPublicKey(), digest)
	if err != nil {
		t.Fatal(err)
	}
	id := r.KeyID()
	anna := metadata.AppendToOutgoingContext(ctx, "name", "anna")
	resp, err := issuer.IssueToken(anna, &service.IssueTokenRequest{TokenKeyId: id[:], BlindedMessage: r.BlindedMessage()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Finalize(resp.GetBlindSignature()); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		id    []byte
		r     []byte
		code  codes.Code
		field string
	}{
		"an empty identity": {ctx, id[:], r.BlindedMessage(), codes.Unauthenticated, ""},
		"a short id":        {anna, id[1:], r.BlindedMessage(), codes.InvalidArgument, "token_key_id"},
		"another key":       {anna, make([]byte, 32), r.BlindedMessage(), codes.NotFound, "token_key_id"},
		"a short message":   {anna, id[:], r.BlindedMessage()[1:], codes.InvalidArgument, "blinded_message"},
		"another message":   {anna, id[:], other.BlindedMessage(), codes.AlreadyExists, "blinded_message"},
	} {
		_, err := issuer.IssueToken(c.ctx, &service.IssueTokenRequest{TokenKeyId: c.id, BlindedMessage: c.r})
		wantStatus(t, name, err, c.code, c.field)
	}
	for name, c := range map[string]struct {
		req   *service.CreateKeyRequest
		code  codes.Code
		field string
	}{
		"the same again": {&service.CreateKeyRequest{RoundId: "r1"}, codes.OK, ""},
		"another expiry": {&service.CreateKeyRequest{RoundId: "r1", Expires: timestamppb.New(end.AsTime().Add(1))}, codes.AlreadyExists, "expires"},
		"no id":          {&service.CreateKeyRequest{}, codes.InvalidArgument, "round_id"},
		"the past":       {&service.CreateKeyRequest{RoundId: "r2", Expires: timestamppb.New(time.Now().Add(-1))}, codes.InvalidArgument, "expires"},
		"no time":        {&service.CreateKeyRequest{RoundId: "r2", Expires: &timestamppb.Timestamp{Nanos: -1}}, codes.InvalidArgument, "expires"},
	} {
		_, err := operator.CreateKey(ctx, c.req)
		wantStatus(t, name, err, c.code, c.field)
	}
	if _, err := operator.CreateKey(ctx, &service.CreateKeyRequest{RoundId: "r2"}); err != nil {
		t.Fatal(err)
	}
	_, err = operator.CreateKey(ctx, &service.CreateKeyRequest{RoundId: "r3"})
	wantStatus(t, "a key too many", err, codes.ResourceExhausted, "round_id")
	list, err := operator.ListKeys(ctx, &service.ListKeysRequest{})
	if err != nil || len(list.GetKeys()) != 2 || list.GetKeys()[0].GetIssued() != 1 || !bytes.Equal(list.GetKeys()[0].GetPublicKey(), key.GetPublicKey()) {
		t.Errorf("keys %v, %v", list, err)
	}
	if _, err := operator.DropKey(ctx, &service.DropKeyRequest{RoundId: "r1"}); err != nil {
		t.Error(err)
	}
	_, err = operator.DropKey(ctx, &service.DropKeyRequest{RoundId: "r1"})
	wantStatus(t, "dropped twice", err, codes.NotFound, "round_id")
}

// Without a hook nobody is a client. A hook's status is passed on, and nothing else of its error.
func TestWhoIsNoClientIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		hook func(context.Context) (string, error)
		code codes.Code
		says string
	}{
		"no hook":         {nil, codes.Unauthenticated, "the caller is no client of this issuer"},
		"a refusal":       {func(context.Context) (string, error) { return "anna", errors.New("secret") }, codes.Unauthenticated, "the caller is no client of this issuer"},
		"a status":        {func(context.Context) (string, error) { return "", status.Error(codes.Unavailable, "later") }, codes.Unavailable, "later"},
		"a long identity": {func(context.Context) (string, error) { return strings.Repeat("x", 2000), nil }, codes.Unauthenticated, "the caller is no client of this issuer"},
	} {
		i := start(t, Config{Journal: journal.NewMemory(), Admit: c.hook})
		k := createKey(t, i, "r1")
		r := ask(t, k, [32]byte{1})
		id := r.KeyID()
		_, err := clients{Issuer: i}.IssueToken(t.Context(), &service.IssueTokenRequest{TokenKeyId: id[:], BlindedMessage: r.BlindedMessage()})
		if status.Code(err) != c.code || status.Convert(err).Message() != c.says {
			t.Errorf("%s: %v, want %v %q", name, err, c.code, c.says)
		}
		if n := i.Keys()[0].Issued; n != 0 {
			t.Errorf("%s: %d tokens issued", name, n)
		}
	}
}

// authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key}
	a.cert = a.parse(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	}, &key.PublicKey)
	return a
}

func (a authority) parse(t *testing.T, template *x509.Certificate, public *ecdsa.PublicKey) *x509.Certificate {
	t.Helper()
	parent := a.cert
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// issue returns a certificate with a key of its own.
func (a authority) issue(t *testing.T, subject pkix.Name) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := a.parse(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// A certificate is its subject: a new one for the same subject is the same client.
func TestCertificatesAreTheirSubjects(t *testing.T) {
	a, strange := newAuthority(t), newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	i := start(t, Config{Journal: journal.NewMemory(), Admit: Certificate})
	address := serve(t, i, credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{a.issue(t, pkix.Name{CommonName: "issuer"})}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven,
	}))
	k := createKey(t, i, "r1")
	issue := func(certificates ...tls.Certificate) error {
		r := ask(t, k, [32]byte{1})
		id := r.KeyID()
		conn := dial(t, address, credentials.NewTLS(&tls.Config{RootCAs: pool,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if len(certificates) == 0 {
					return &tls.Certificate{}, nil
				}
				return &certificates[0], nil
			}}))
		_, err := service.NewIssuerClient(conn).IssueToken(t.Context(), &service.IssueTokenRequest{TokenKeyId: id[:], BlindedMessage: r.BlindedMessage()})
		return err
	}
	anna, bert := pkix.Name{CommonName: "anna", Organization: []string{"x"}}, pkix.Name{CommonName: "bert", Organization: []string{"x"}}
	for _, c := range []struct {
		who  string
		err  error
		code codes.Code
	}{
		{"anna", issue(a.issue(t, anna)), codes.OK},
		{"anna with a new certificate", issue(a.issue(t, anna)), codes.AlreadyExists},
		{"bert", issue(a.issue(t, bert)), codes.OK},
		{"nobody", issue(), codes.Unauthenticated},
		{"no subject", issue(a.issue(t, pkix.Name{})), codes.Unauthenticated},
		{"another authority", issue(strange.issue(t, pkix.Name{CommonName: "carl"})), codes.Unavailable}, // no connection
	} {
		if status.Code(c.err) != c.code {
			t.Errorf("%s: %v, want %v", c.who, c.err, c.code)
		}
	}
}

// A server whose journal has failed ends, so that it can be started anew.
func TestServeEndsWhenTheIssuerFails(t *testing.T) {
	j := &broken{Journal: journal.NewMemory()}
	i := start(t, Config{Journal: j})
	var l Listeners
	for _, to := range []*net.Listener{&l.Clients, &l.Operator} {
		var err error
		if *to, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	served := make(chan error, 1)
	go func() { served <- i.Serve(t.Context(), l) }()
	conn := dial(t, l.Operator.Addr().String(), insecure.NewCredentials())
	operator := service.NewIssuerOperatorClient(conn)
	if _, err := operator.CreateKey(t.Context(), &service.CreateKeyRequest{RoundId: "r1"}); err != nil {
		t.Fatal(err)
	}
	_, err := service.NewIssuerClient(conn).IssueToken(t.Context(), &service.IssueTokenRequest{})
	wantStatus(t, "the clients' service on the operator's listener", err, codes.Unimplemented, "")
	_, err = service.NewIssuerOperatorClient(dial(t, l.Clients.Addr().String(), insecure.NewCredentials())).ListKeys(t.Context(), &service.ListKeysRequest{})
	wantStatus(t, "the operator's service on the clients' listener", err, codes.Unimplemented, "")
	j.after = errors.New("input/output error")
	_, err = operator.CreateKey(t.Context(), &service.CreateKeyRequest{RoundId: "r2"})
	wantStatus(t, "a failed write", err, codes.Unavailable, "")
	if err := <-served; !errors.Is(err, journal.ErrFailed) {
		t.Errorf("Serve returned %v", err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory()})
	var l Listeners
	for _, to := range []*net.Listener{&l.Clients, &l.Operator} {
		var err error
		if *to, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- i.Serve(ctx, l) }()
	conn := dial(t, l.Operator.Addr().String(), insecure.NewCredentials())
	if _, err := service.NewIssuerOperatorClient(conn).ListKeys(t.Context(), &service.ListKeysRequest{}); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// A secret must not be readable over HTTP where it is not over gRPC.
func TestHTTPNeedsTheSecurityOfTheOtherListeners(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory(), Credentials: credentials.NewTLS(&tls.Config{})})
	var l Listeners
	for _, to := range []*net.Listener{&l.Clients, &l.Operator, &l.HTTP} {
		var err error
		if *to, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // for one that serves and should not
	defer cancel()
	var p *fl.ParamError
	if err := i.Serve(ctx, l); !errors.As(err, &p) || p.Param != "HTTPSecurity" {
		t.Errorf("Serve returned %v, want an error for HTTPSecurity", err)
	}
	for _, one := range []net.Listener{l.Clients, l.Operator, l.HTTP} {
		if err := one.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v is open: %v", one.Addr(), err)
		}
	}
}
