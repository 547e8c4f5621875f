package server

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/seal"
)

// shuffledService implements the shuffler's part of the API.
type shuffledService struct {
	service.UnimplementedShuffledServer
	*Server
}

func (s shuffledService) ForwardReports(ctx context.Context, req *service.ForwardReportsRequest) (*service.ForwardReportsResponse, error) {
	resp, err := s.forward(ctx, req)
	if err != nil {
		s.cfg.Logger.Debug("sealed reports refused", "round", req.GetRoundId(), "error", err)
		return nil, s.fail("ForwardReports", err, "")
	}
	return resp, nil
}

// forward counts the sealed reports of one message.
func (s shuffledService) forward(ctx context.Context, req *service.ForwardReportsRequest) (*service.ForwardReportsResponse, error) {
	r, err := s.find(req)
	if err != nil {
		return nil, err
	}
	if r.counters != nil {
		return nil, because(errElsewhere, "round_id", req.GetRoundId(), "must be one whose reports this server counts")
	}
	if r.settled() { // it may have no keys any more
		return nil, because(errClosed, "round_id", req.GetRoundId(), "must be open")
	}
	sealed, err := seal.Split(req.GetSealed(), r.sealing.format.Sealed)
	if err != nil {
		return nil, fl.Invalid("sealed", fmt.Sprintf("%d bytes", len(req.GetSealed())), "must hold sealed reports of the round: %v", err)
	}
	size, tags := r.sealing.format.Tag, req.GetShareTags()
	if len(tags) != size*len(sealed) {
		return nil, fl.Invalid("share_tags", fmt.Sprintf("%d bytes", len(tags)), "must have %d for each of %d reports", size, len(sealed))
	}
	reports := make([]forwardedReport, len(sealed))
	for i := range reports {
		reports[i] = forwardedReport{sealed: sealed[i], tag: tags[i*size : (i+1)*size]}
	}
	if err := r.addPreparations(reports, req); err != nil {
		return nil, err
	}
	reasons, got, err := r.forward(ctx, reports)
	if err != nil {
		return nil, err
	}
	s.metrics.forwarded(got, reasons, r.tokens != nil)
	r.logRejections(reports, reasons)
	resp := &service.ForwardReportsResponse{}
	for i, why := range reasons {
		if why != nil {
			resp.Rejected = append(resp.Rejected, uint32(i))
		}
	}
	if n := len(resp.Rejected); n > 0 {
		r.logger.Warn("sealed reports do not count", "rejected", n, "of", len(reasons), "first", reasons[resp.Rejected[0]])
	}
	return resp, nil
}

// addPreparations gives each report of a mechanism with proofs the second server's part of its check.
func (r *round) addPreparations(reports []forwardedReport, req *service.ForwardReportsRequest) error {
	size, all, key := r.sealing.prepBytes(), req.GetPrepShares(), req.GetVerifyKey()
	if len(all) != size*len(reports) {
		return fl.Invalid("prep_shares", fmt.Sprintf("%d bytes", len(all)), "must have %d for each of %d reports", size, len(reports))
	}
	if want := len(fl.VerifyKey{}); size > 0 && len(key) != want {
		return fl.Invalid("verify_key", fmt.Sprintf("%d bytes", len(key)), "must have %d", want)
	}
	if size == 0 {
		return nil
	}
	shared := fl.VerifyKey(key)
	for i := range reports {
		reports[i].prep, reports[i].key = all[i*size:(i+1)*size], &shared
	}
	return nil
}

// maxNamed bounds the reports of a message that a line of log names: whoever can send reports to the
// shuffler could fill the log otherwise.
const maxNamed = 8

// logRejections names the first reports of a message that do not count, by their ids.
func (r *round) logRejections(reports []forwardedReport, reasons []error) {
	rejected := 0
	var names []string
	var first error
	for i, why := range reasons {
		if why == nil {
			continue
		}
		if rejected++; rejected <= maxNamed {
			names = append(names, fmt.Sprintf("%x", seal.ID(reports[i].sealed)))
		}
		first = cmp.Or(first, why)
	}
	if rejected > 0 {
		r.logger.Warn("reports from the shuffler do not count", "rejected", rejected, "of", len(reports), "ids", names, "first_reason", first)
	}
}

func (s shuffledService) CompleteRound(ctx context.Context, req *service.CompleteRoundRequest) (*service.CompleteRoundResponse, error) {
	r, err := s.find(req)
	if err == nil {
		err = r.complete(ctx, req.GetShareSum())
	}
	if err != nil {
		s.cfg.Logger.Warn("round not completed", "round", req.GetRoundId(), "error", err)
		return nil, s.fail("CompleteRound", err, "")
	}
	return &service.CompleteRoundResponse{}, nil
}

// find returns the round that a request of the shuffler is about.
func (s shuffledService) find(req interface {
	GetRoundId() string
	GetRoundDigest() []byte
}) (*round, error) {
	r, err := s.rounds.described(req.GetRoundId(), req.GetRoundDigest())
	switch {
	case err != nil:
		return nil, err
	case !r.shuffled():
		return nil, because(errUnshuffled, "round_id", req.GetRoundId(), "must have a shuffler")
	}
	return r, r.lost
}
