package server_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
)

// submit sends raw requests over one stream.
func submit(t testing.TB, p *peers, requests ...*service.SubmitReportsRequest) (*service.SubmitReportsResponse, error) {
	t.Helper()
	stream, err := p.rounds.SubmitReports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if err := stream.Send(r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return stream.CloseAndRecv()
}

// request is a valid submission with the given key and reports.
func request(t testing.TB, r fl.Round, key byte, reports ...[]byte) *service.SubmitReportsRequest {
	t.Helper()
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return &service.SubmitReportsRequest{
		RoundId: r.ID, RoundDigest: digest[:], BatchKey: bytes.Repeat([]byte{key}, 16), Reports: bytes.Join(reports, nil),
	}
}

// wantField checks the code and the field that the error's detail names.
func wantField(t testing.TB, what string, err error, code codes.Code, field string) {
	t.Helper()
	wantCode(t, what, err, code)
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok && bad.GetFieldViolations()[0].GetField() == field {
			return
		}
	}
	t.Errorf("%s: error %v does not name the field %s", what, err, field)
}

func TestSubmissionsAreRefusedWithTheRightCode(t *testing.T) {
	p := start(t, server.Config{Limits: server.Limits{MaxMessageBytes: 64 << 10}})
	r := open(t, p, cocoRound("r"))
	good := encode(t, join(t, p, "r"), 1)[0]
	otherDim := cocoRound("other")
	otherDim.Dim = 21
	other := open(t, p, otherDim)
	outside := bytes.Clone(good)
	outside[len(outside)-1] = 0xFF // a slot beyond t

	mutate := func(f func(*service.SubmitReportsRequest)) *service.SubmitReportsRequest {
		m := request(t, r, 1, good)
		f(m)
		return m
	}
	for name, c := range map[string]struct {
		req   *service.SubmitReportsRequest
		code  codes.Code
		field string
	}{
		"malformed":            {request(t, r, 1, outside), codes.InvalidArgument, "reports"},
		"truncated":            {request(t, r, 1, good[:len(good)-1]), codes.InvalidArgument, "reports"},
		"empty report":         {request(t, r, 1, []byte{}), codes.InvalidArgument, "reports"},
		"oversized report":     {request(t, r, 1, append(bytes.Clone(good), 0)), codes.InvalidArgument, "reports"},
		"good one after a bad": {request(t, r, 1, good[:2], good), codes.InvalidArgument, "reports"},
		"no reports":           {request(t, r, 1), codes.InvalidArgument, "reports"},
		"no round":             {mutate(func(m *service.SubmitReportsRequest) { m.RoundId = "" }), codes.InvalidArgument, "round_id"},
		"unknown round":        {mutate(func(m *service.SubmitReportsRequest) { m.RoundId = "nowhere" }), codes.NotFound, "round_id"},
		"wrong round":          {mutate(func(m *service.SubmitReportsRequest) { m.RoundId = "other" }), codes.FailedPrecondition, "round_digest"},
		"wrong dimension":      {mutate(func(m *service.SubmitReportsRequest) { d, _ := other.Digest(); m.RoundDigest = d[:] }), codes.FailedPrecondition, "round_digest"},
		"no digest":            {mutate(func(m *service.SubmitReportsRequest) { m.RoundDigest = nil }), codes.InvalidArgument, "round_digest"},
		"short key":            {mutate(func(m *service.SubmitReportsRequest) { m.BatchKey = m.BatchKey[:15] }), codes.InvalidArgument, "batch_key"},
		"long key":             {mutate(func(m *service.SubmitReportsRequest) { m.BatchKey = make([]byte, 65) }), codes.InvalidArgument, "batch_key"},
	} {
		_, err := submit(t, p, c.req)
		wantField(t, name, err, c.code, c.field)
	}
	_, err := submit(t, p, request(t, r, 1, make([]byte, 65<<10)))
	wantCode(t, "oversized message", err, codes.ResourceExhausted)

	resp, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if err != nil || resp.GetStatus().GetReports() != 0 {
		t.Errorf("after refusals only: %v reports, %v, want 0", resp.GetStatus().GetReports(), err)
	}
	// The key of a refused batch is free again.
	if ok, err := submit(t, p, request(t, r, 1, good)); err != nil || ok.GetAccepted() != 1 {
		t.Errorf("the good report after the refusals: %v, %v", ok, err)
	}
}

func TestADuplicateBatchIsCountedOnce(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, cocoRound("r"))
	reports := encode(t, join(t, p, "r"), 5)
	resp, err := submit(t, p, request(t, r, 1, reports[:3]...), request(t, r, 2, reports[3:]...), request(t, r, 1, reports[:3]...))
	if err != nil || resp.GetAccepted() != 5 || resp.GetDuplicates() != 3 {
		t.Errorf("within a stream: %v, %v, want 5 accepted and 3 duplicates", resp, err)
	}
	if resp, err = submit(t, p, request(t, r, 2, reports[3:]...)); err != nil || resp.GetAccepted() != 0 || resp.GetDuplicates() != 2 {
		t.Errorf("in another stream: %v, %v, want 2 duplicates", resp, err)
	}
	_, err = submit(t, p, request(t, r, 2, reports[:2]...))
	wantField(t, "same key, other reports", err, codes.InvalidArgument, "batch_key")

	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	_, err = submit(t, p, request(t, r, 1, reports[:3]...))
	wantField(t, "a retry after the close", err, codes.FailedPrecondition, "round_id")
	e, err := p.operator.Estimate(t.Context(), "r", false)
	if err != nil || e.Reports != 5 {
		t.Errorf("estimate of %v reports, %v, want 5", e, err)
	}
	_, err = submit(t, p, request(t, r, 3, reports...))
	wantField(t, "late", err, codes.FailedPrecondition, "round_id")
}
