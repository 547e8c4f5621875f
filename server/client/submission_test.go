package client

import (
	"errors"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Forms of rounds: with a batch key, with tokens, and with a shuffler whose items have 9 bytes.
var (
	direct     = form{}
	tokens     = form{admitted: true}
	sealed     = form{item: 9}
	sealedSent = form{item: 9, spent: true}
	both       = form{admitted: true, item: 9}
	bothSent   = form{admitted: true, item: 9, spent: true}
)

func TestDamagedSubmissionsAreRefused(t *testing.T) {
	type S = submission
	key, request, token, item := make([]byte, 16), []byte{2}, make([]byte, admit.TokenBytes), make([]byte, 9)
	asked := S{Version: 2, Request: request, OuterRequest: request}
	fetched := S{Version: 2, Request: request, OuterRequest: request, Token: token, OuterToken: token}
	with := func(s S, change func(*S)) S { change(&s); return s }
	for i, c := range []struct {
		form  form
		kept  submission
		param string // "" for a sound one
	}{
		{direct, S{Version: 2, BatchKey: key}, ""},
		{tokens, S{Version: 2, Request: request}, ""},
		{tokens, S{Version: 2, Request: request, Token: token}, ""},
		{sealed, S{Version: 2}, ""},
		{sealed, S{Version: 2, Item: item}, ""},
		{sealedSent, S{Version: 2, Item: item}, ""},
		{both, asked, ""},
		{both, fetched, ""},
		{bothSent, with(fetched, func(s *S) { s.Item = item }), ""},
		{direct, S{Version: 1, BatchKey: key}, "version"},
		{direct, S{Version: 2}, "batch_key"},
		{direct, S{Version: 2, BatchKey: key[1:]}, "batch_key"},
		{direct, S{Version: 2, BatchKey: key, Request: request}, "request"},
		{direct, S{Version: 2, BatchKey: key, Token: token}, "token"},
		{direct, S{Version: 2, BatchKey: key, Item: item}, "item"},
		{tokens, S{Version: 2, BatchKey: key, Request: request}, "batch_key"},
		{tokens, S{Version: 2, Token: token}, "request"},
		{tokens, S{Version: 2, Request: request, Report: []byte{1}}, "token"}, // with a seed of its own
		{tokens, S{Version: 2, Request: request, Token: token[1:]}, "token"},
		{form{admitted: true, spent: true}, S{Version: 2, Request: request}, "token"},
		{sealed, S{Version: 2, BatchKey: key}, "batch_key"},
		{sealed, S{Version: 2, Item: item[1:]}, "item"},
		{sealed, S{Version: 2, Request: request, Item: item}, "request"},
		{sealedSent, S{Version: 2}, "item"},
		{both, with(asked, func(s *S) { s.Item = item }), "token"}, // sealed without its token
		{bothSent, fetched, "item"},
		{both, with(asked, func(s *S) { s.OuterRequest = nil }), "outer_request"},
		{both, with(fetched, func(s *S) { s.OuterToken = nil }), "outer_token"},
		{both, with(asked, func(s *S) { s.OuterToken = token }), "outer_token"},
		{bothSent, with(fetched, func(s *S) { s.OuterToken, s.Item = token[1:], item }), "outer_token"},
		{tokens, asked, "outer_request"},
		{tokens, S{Version: 2, Request: request, Token: token, OuterToken: token}, "outer_token"},
		{sealed, S{Version: 2, OuterRequest: request}, "outer_request"},
	} {
		data, err := c.kept.marshal()
		if err != nil {
			t.Fatal(err)
		}
		wantSubmission(t, i, data, c.form, c.param)
	}
	for i, text := range []string{
		"", "{", `{"version":2,"batch_key":7}`, `{}x`, `{"version":2,"seal":"AA=="}`, `{"version":2}{"version":2}`,
		"{\"version\":2,\"report_bytes\":1}\n", "{\"version\":2,\"report_bytes\":-1}\nxx", "{\"version\":2,\"report_bytes\":1,\"item_bytes\":9}\n123456789",
		`{"version":1,"report":"AA==","item":"AA=="}`,
	} {
		wantSubmission(t, i, []byte(text), sealed, "submission")
	}
}

// A report that the ledger could not keep together with its seal is refused before it is kept. Two of the longest fit with their tokens.
func TestReportsTooLongForTheLedgerAreRefused(t *testing.T) {
	s := &spending{ledger: &ledger.Ledger{}, part: &Participation{sealing: &seal.ItemSealer{}}}
	var p *fl.ParamError
	if _, err := s.submission(make([]byte, maxKeptSealed+1)); !errors.As(err, &p) || p.Param != "report" {
		t.Errorf("%v, want a ParamError for report", err)
	}
	request, token := make([]byte, 8<<10), make([]byte, admit.TokenBytes)
	head, err := submission{Version: 2, Request: request, OuterRequest: request, Token: token, OuterToken: token}.marshal()
	if longest := len(head) + 2*maxKeptSealed + 8<<10; err != nil || longest > ledger.MaxKept { // with what a seal and a token add
		t.Errorf("%d bytes, %v, want at most %d", longest, err, ledger.MaxKept)
	}
}

func wantSubmission(t *testing.T, i int, data []byte, f form, param string) {
	t.Helper()
	_, err := parseSubmission(data, f)
	var p *fl.ParamError
	if param == "" && err != nil || param != "" && (!errors.As(err, &p) || p.Param != param) {
		t.Errorf("case %d, %.60s: %v, want a ParamError for %q", i, data, err, param)
	}
}

func FuzzSubmission(f *testing.F) {
	for _, s := range []submission{
		{Version: 2, Report: []byte{1, 2}, BatchKey: make([]byte, 16)}, {Version: 2, Report: []byte{1}, Request: []byte{2}, Token: make([]byte, admit.TokenBytes)},
		{
			Version: 2, Report: []byte{1}, Request: []byte{2}, Token: make([]byte, admit.TokenBytes), OuterRequest: []byte{3}, OuterToken: make([]byte, admit.TokenBytes),
			Item: make([]byte, 9),
		},
		{Version: 2, Item: make([]byte, 9)},
	} {
		data, err := s.marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, form := range []form{direct, tokens, sealed, sealedSent, both, bothSent} {
			s, err := parseSubmission(data, form)
			if err != nil {
				continue
			}
			again, err := s.marshal()
			if err != nil {
				t.Fatal(err)
			}
			back, err := parseSubmission(again, form)
			if err != nil || !reflect.DeepEqual(trim(back), trim(s)) {
				t.Fatalf("%q comes back as %+v, %v", data, back, err)
			}
			if form.spent && (len(s.Item) != form.item || form.admitted != (len(s.Token) == admit.TokenBytes) || (form.admitted && form.item > 0) != (len(s.OuterToken) == admit.TokenBytes)) {
				t.Fatalf("%q may have left without its bytes", data)
			}
		}
	})
}

// trim is s with nil for what is empty.
func trim(s submission) submission {
	for _, b := range []*[]byte{&s.Report, &s.BatchKey, &s.Request, &s.Token, &s.OuterRequest, &s.OuterToken, &s.Item} {
		if len(*b) == 0 {
			*b = nil
		}
	}
	return s
}
