package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// operatorService implements the operator's half of the API.
type operatorService struct {
	service.UnimplementedOperatorServer
	*Server
}

func (s operatorService) OpenRound(_ context.Context, req *service.OpenRoundRequest) (*service.OpenRoundResponse, error) {
	description, err := fl.RoundFromPartialProto(req.GetRound())
	if err != nil {
		return nil, s.fail("OpenRound", err, "round")
	}
	if description.PublicSeed == [32]byte{} {
		description.PublicSeed = fl.NewPublicSeed()
	}
	if description, err = fl.Complete(description); err != nil {
		return nil, s.fail("OpenRound", err, "round")
	}
	if !description.Deadline.IsZero() && !description.Deadline.After(time.Now()) {
		return nil, s.fail("OpenRound", fl.Invalid("deadline", description.Deadline, "must lie in the future"), "round")
	}
	m, err := fl.Open(description)
	if err == nil {
		err = checkReportSize(m, description.Dim, s.cfg.MaxMessageBytes)
	}
	if err != nil {
		return nil, s.fail("OpenRound", err, "round")
	}
	r, err := newRound(description, m, s.cfg.Logger, s.rounds.trim)
	if err == nil {
		err = s.rounds.open(r)
	}
	if err != nil {
		return nil, s.fail("OpenRound", err, "round.id")
	}
	r.logger.Info("round open", "dim", description.Dim, "epsilon", description.Epsilon,
		"min_reports", description.MinReports, "target_reports", description.TargetReports)
	if a, ok := m.(fl.Adviser); ok {
		for _, advice := range a.Advice() {
			r.logger.Warn("round could be more accurate", "advice", advice)
		}
	}
	return &service.OpenRoundResponse{Round: description.Proto()}, nil
}

// checkReportSize refuses rounds whose reports could never arrive.
func checkReportSize(m fl.Mechanism, dim, maxMessageBytes int) error {
	const envelope = 1 << 10 // the other fields of a SubmitReportsRequest
	if sized, ok := m.(fl.ReportSizer); ok && sized.ReportBytes() > maxMessageBytes-envelope {
		return fl.Invalid("dim", dim, "must leave a report (%d bytes) below the message limit of %d bytes", sized.ReportBytes(), maxMessageBytes)
	}
	return nil
}

func (s operatorService) CloseRound(ctx context.Context, req *service.CloseRoundRequest) (*service.CloseRoundResponse, error) {
	r, err := s.named(req.GetRoundId())
	if err == nil {
		err = r.close(ctx)
	}
	if err != nil {
		return nil, s.fail("CloseRound", err, "round_id")
	}
	return &service.CloseRoundResponse{Status: r.status()}, nil
}

func (s operatorService) GetEstimate(req *service.GetEstimateRequest, stream grpc.ServerStreamingServer[service.GetEstimateResponse]) error {
	r, err := s.released(stream.Context(), req)
	if err != nil {
		return s.fail("GetEstimate", err, "round_id")
	}
	return sendEstimate(r.description.ID, r.estimate, stream)
}

// released finds a round whose estimate is available, or the reason why it is not.
func (s operatorService) released(ctx context.Context, req interface {
	GetRoundId() string
	GetWait() bool
}) (*round, error) {
	r, err := s.named(req.GetRoundId())
	switch {
	case err != nil:
		return nil, err
	case req.GetWait():
		err = r.wait(ctx)
	case !r.settled():
		err = fmt.Errorf("round_id: got %q, rule: must be closed: %w", req.GetRoundId(), errStillOpen)
	default:
		err = r.failure
	}
	return r, err
}

// sendEstimate streams an estimate in chunks of chunkBytes.
func sendEstimate(id string, e *fl.Estimate, stream grpc.ServerStreamingServer[service.GetEstimateResponse]) error {
	const perChunk = chunkBytes / 16 // two float64 per coordinate
	msg := &service.GetEstimateResponse{Header: &service.EstimateHeader{
		RoundId:   id,
		Mechanism: e.Mechanism,
		Dim:       uint32(len(e.Value)),
		Reports:   uint64(e.Reports),
		Guarantee: e.Guarantee.Proto(),
	}}
	for _, t := range e.Tiers {
		msg.Header.Tiers = append(msg.Header.Tiers, &service.TierEstimate{Guarantee: t.Guarantee.Proto(), Reports: uint64(t.Reports), Weight: t.Weight})
	}
	for from := 0; from < len(e.Value); from += perChunk {
		to := min(from+perChunk, len(e.Value))
		msg.Offset, msg.Mean, msg.StdErr = uint32(from), e.Value[from:to], e.StdErr[from:to]
		if err := stream.Send(msg); err != nil {
			return err
		}
		msg = new(service.GetEstimateResponse)
	}
	return nil
}

func (s operatorService) PutModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) error {
	header, data, err := s.receiveModel(stream)
	if err != nil {
		return s.fail("PutModel", err, "")
	}
	version := s.model.put(header, data)
	s.cfg.Logger.Debug("model published", "version", version, "format", header.GetFormat(), "bytes", len(data))
	return stream.SendAndClose(&service.PutModelResponse{Version: version})
}

func (s operatorService) receiveModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) (*service.ModelHeader, []byte, error) {
	var header *service.ModelHeader
	var data bytes.Buffer
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if header == nil {
			if err := checkModelHeader(req.GetHeader(), s.cfg.MaxModelBytes); err != nil {
				return nil, nil, err
			}
			header = req.GetHeader()
		} else if req.GetHeader() != nil {
			return nil, nil, fl.Invalid("header", "a second one", "belongs in the first message only")
		}
		data.Write(req.GetData())
		if uint64(data.Len()) > header.GetSize() {
			return nil, nil, fl.Invalid("data", fmt.Sprintf("%d bytes or more", data.Len()), "must be header.size = %d bytes", header.GetSize())
		}
	}
	if header == nil {
		return nil, nil, checkModelHeader(nil, s.cfg.MaxModelBytes)
	}
	if uint64(data.Len()) != header.GetSize() {
		return nil, nil, fl.Invalid("data", fmt.Sprintf("%d bytes", data.Len()), "must be header.size = %d bytes", header.GetSize())
	}
	if sum := sha256.Sum256(data.Bytes()); !bytes.Equal(sum[:], header.GetSha256()) {
		return nil, nil, fl.Invalid("header.sha256", fmt.Sprintf("%x", header.GetSha256()), "must be the data's, %x", sum)
	}
	return header, data.Bytes(), nil
}

// named finds a round by an id that must not be empty.
func (s operatorService) named(id string) (*round, error) {
	if id == "" {
		return nil, fl.Invalid("round_id", "", "is required")
	}
	return s.rounds.find(id)
}
