package client

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestDamagedSubmissionsAreRefused(t *testing.T) {
	for text, param := range map[string]string{
		"": "submission", "{": "submission", `{"version":1,"batch_key":7}`: "submission", `{}x`: "submission",
		`{"version":2}`: "version", `{"version":1,"report":"AA=="}`: "batch_key", `{"version":1,"batch_key":"AAAA"}`: "batch_key",
		`{"version":1,"batch_key":"AAAAAAAAAAAAAAAAAAAAAA==","request":"AA=="}`: "batch_key",
	} {
		_, err := parseSubmission([]byte(text))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v, want a ParamError for %s", text, err, param)
		}
	}
}

func FuzzSubmission(f *testing.F) {
	for _, s := range []submission{
		{Version: 1, Report: []byte{1, 2}, BatchKey: make([]byte, 16)}, {Version: 1, Report: []byte{1}, Request: []byte{2}, Token: []byte{3}},
	} {
		data, err := s.marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSubmission(data)
		if err != nil {
			return
		}
		again, err := s.marshal()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseSubmission(again); err != nil || !bytes.Equal(back.Report, s.Report) || !bytes.Equal(back.Token, s.Token) {
			t.Fatalf("%q comes back as %+v, %v", data, back, err)
		}
	})
}
