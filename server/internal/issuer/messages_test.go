package issuer

import (
	"bytes"
	"context"
	"crypto/rsa"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// ahead is requests of one client under both keys of several rounds.
func ahead(t testing.TB, i *Issuer, rounds ...string) (requests []*admit.Request, messages []Message) {
	t.Helper()
	for _, id := range rounds {
		k := createKey(t, i, id)
		for _, public := range [][]byte{k.PublicKey, k.OuterPublicKey} {
			r, err := admit.NewRequest(public, [32]byte([]byte(fmt.Sprintf("%-32s", id))))
			if err != nil {
				t.Fatal(err)
			}
			requests, messages = append(requests, r), append(messages, Message{r.KeyID(), r.BlindedMessage()})
		}
	}
	return requests, messages
}

// A client gets the tokens of the rounds to come in one call, again after a restart, and no others.
func TestTokensOfManyRoundsComeTogether(t *testing.T) {
	j := journal.NewMemory()
	i := start(t, Config{Journal: j})
	requests, messages := ahead(t, i, "r3", "r1", "r2")
	_, others := ahead(t, i, "r3", "r1", "r2")
	var first [][]byte
	for range 2 {
		answers, err := i.Issue(t.Context(), "anna", messages...)
		if err != nil {
			t.Fatal(err)
		}
		for n, r := range requests {
			if _, err := r.Finalize(answers[n]); err != nil {
				t.Errorf("message %d: %v", n, err)
			}
		}
		if first = append(first, bytes.Join(answers, nil)); !bytes.Equal(first[0], bytes.Join(answers, nil)) {
			t.Error("the same messages got other signatures")
		}
		_, err = i.Issue(t.Context(), "anna", others...)
		wantError(t, "other messages", err, ErrIssued, "blinded_message")
		for _, k := range i.Keys() {
			if k.Issued != 1 {
				t.Errorf("round %s: %d clients, want 1", k.RoundID, k.Issued)
			}
		}
		i.Close()
		i = start(t, Config{Journal: j})
	}
}

// A call that asks for something wrong gets nothing: no message of it is on record.
func TestAllMessagesAreSignedOrNone(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory(), MaxWaiting: MaxMessages})
	_, messages := ahead(t, i, "r1", "r2")
	_, others := ahead(t, i, "r1", "r2")
	if _, err := i.Issue(t.Context(), "anna", others[2]); err != nil {
		t.Fatal(err)
	}
	change := func(n int, m Message) []Message { return append(slices.Clone(messages[:n]), m) }
	for name, c := range map[string]struct {
		messages []Message
		target   error
		param    string
		says     string
	}{
		"none":              {nil, nil, "token_key_ids", "0 keys"},
		"too many":          {make([]Message, MaxMessages+1), nil, "token_key_ids", "65 keys"},
		"another message":   {messages, ErrIssued, "blinded_message", "message 3 of 4"},
		"a key twice":       {change(2, others[0]), nil, "token_key_ids", "message 3 of 3"},
		"no key":            {change(3, Message{[32]byte{1}, messages[0].Blinded}), ErrNoKey, "token_key_id", "message 4 of 4"},
		"a short message":   {change(1, Message{messages[1].KeyID, nil}), nil, "blinded_message", "message 2 of 2"},
		"above the modulus": {change(1, Message{messages[1].KeyID, bytes.Repeat([]byte{0xFF}, admit.SignatureBytes)}), nil, "blinded_message", "message 2 of 2"},
	} {
		answers, err := i.Issue(t.Context(), "anna", c.messages...)
		if wantError(t, name, err, c.target, c.param); answers != nil || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %d answers, %v, want nothing and %q", name, len(answers), err, c.says)
		}
	}
	for n := range 2 { // under the keys of r1 nothing was signed yet
		if _, err := i.Issue(t.Context(), "anna", others[n]); err != nil {
			t.Error(err)
		}
	}
	if keys := i.Keys(); keys[0].Issued != 1 || keys[1].Issued != 1 {
		t.Errorf("%+v", keys)
	}
	if len(i.calls) != 0 {
		t.Errorf("%d messages are still in progress", len(i.calls))
	}
}

// All calls take keys in one order, each once.
func TestKeysAreTakenInOneOrder(t *testing.T) {
	a, b, c := &key{record: record{RoundID: "a"}}, &key{record: record{RoundID: "b"}}, &key{record: record{RoundID: "c"}}
	if got := inOrder([]*signing{{key: c}, {key: a}, {key: c}, {key: b}, {key: a}}); !slices.Equal(got, []*key{a, b, c}) {
		t.Errorf("%d keys", len(got))
	}
}

// The services answer for many messages as they do for one.
func TestTheServiceSignsManyMessages(t *testing.T) {
	figures := prometheus.NewRegistry()
	i := start(t, Config{Journal: journal.NewMemory(), Admit: byHeader, Metrics: figures})
	issuer := service.NewIssuerClient(dial(t, serve(t, i, insecure.NewCredentials()), insecure.NewCredentials()))
	anna := metadata.AppendToOutgoingContext(t.Context(), "name", "anna")
	requests, messages := ahead(t, i, "r1", "r2")
	req := &service.IssueTokensRequest{}
	for _, m := range messages {
		req.TokenKeyIds, req.BlindedMessages = append(req.TokenKeyIds, m.KeyID[:]...), append(req.BlindedMessages, m.Blinded...)
	}
	resp, err := issuer.IssueTokens(anna, req)
	if err != nil {
		t.Fatal(err)
	}
	answers := slices.Collect(slices.Chunk(resp.GetBlindSignatures(), admit.SignatureBytes))
	for n, r := range requests {
		if _, err := r.Finalize(answers[n]); err != nil {
			t.Fatalf("message %d: %v", n, err)
		}
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		req   *service.IssueTokensRequest
		code  codes.Code
		field string
	}{
		"nobody":           {t.Context(), req, codes.Unauthenticated, ""},
		"nothing":          {anna, &service.IssueTokensRequest{}, codes.InvalidArgument, "token_key_ids"},
		"a cut id":         {anna, &service.IssueTokensRequest{TokenKeyIds: req.TokenKeyIds[1:], BlindedMessages: req.BlindedMessages}, codes.InvalidArgument, "token_key_ids"},
		"a message more":   {anna, &service.IssueTokensRequest{TokenKeyIds: req.TokenKeyIds[32:], BlindedMessages: req.BlindedMessages}, codes.InvalidArgument, "blinded_messages"},
		"in another order": {anna, &service.IssueTokensRequest{TokenKeyIds: req.TokenKeyIds, BlindedMessages: slices.Concat(answers...)}, codes.AlreadyExists, "blinded_message"},
	} {
		_, err := issuer.IssueTokens(c.ctx, c.req)
		wantStatus(t, name, err, c.code, c.field)
	}
	_, err = issuer.IssueToken(anna, &service.IssueTokenRequest{TokenKeyId: req.TokenKeyIds[:64], BlindedMessage: req.BlindedMessages[:512]})
	wantStatus(t, "two in a call for one", err, codes.InvalidArgument, "token_key_id")
	want := `
		# HELP hushgrad_issuer_answers_total Answers to clients that asked for a token, by gRPC code. OK is a token, also one that was given before.
		# TYPE hushgrad_issuer_answers_total counter
		hushgrad_issuer_answers_total{code="AlreadyExists"} 1
		hushgrad_issuer_answers_total{code="InvalidArgument"} 4
		hushgrad_issuer_answers_total{code="OK"} 4
		hushgrad_issuer_answers_total{code="Unauthenticated"} 1
`
	if err := testutil.GatherAndCompare(figures, strings.NewReader(want), "hushgrad_issuer_answers_total"); err != nil {
		t.Error(err)
	}
}

// The largest call fits into a message, also in JSON.
func TestTheLargestCallFits(t *testing.T) {
	largest := &service.IssueTokensRequest{TokenKeyIds: make([]byte, MaxMessages*32), BlindedMessages: make([]byte, MaxMessages*admit.SignatureBytes)}
	text, err := protojson.MarshalOptions{Multiline: true, UseProtoNames: true}.Marshal(largest)
	if n := max(proto.Size(largest), len(text)); err != nil || n > messageBytes {
		t.Errorf("%d bytes, %v, want at most %d", n, err, messageBytes)
	}
}

// Whatever a client sends, it gets signatures under its own keys or an error, and the issuer goes on.
func FuzzIssueTokens(f *testing.F) {
	j := journal.NewMemory()
	i, err := New(Config{
		Journal: j, Logger: slog.New(slog.DiscardHandler), NewKey: func() (*rsa.PrivateKey, error) { return madeKey(j) },
		Admit: func(context.Context) (string, error) { return "anna", nil },
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(i.Close)
	_, messages := ahead(f, i, "r1")
	f.Add(slices.Concat(messages[0].KeyID[:], messages[1].KeyID[:]), slices.Concat(messages[0].Blinded, messages[1].Blinded))
	f.Add(messages[0].KeyID[:], messages[0].Blinded)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, ids, blinded []byte) {
		resp, err := clients{Issuer: i}.IssueTokens(t.Context(), &service.IssueTokensRequest{TokenKeyIds: ids, BlindedMessages: blinded})
		if err == nil && (len(resp.GetBlindSignatures()) != 8*len(ids) || len(ids) == 0) || err != nil && resp != nil {
			t.Fatalf("%d bytes of ids: %v, %v", len(ids), resp, err)
		}
		if len(i.calls) != 0 {
			t.Fatalf("%d messages are still in progress", len(i.calls))
		}
	})
}
