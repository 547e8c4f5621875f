package server

import (
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

// What the server keeps in its journal, below "server/":
//
//	head/<id>                    a RoundStatus: a round's description and how it stands
//	round/<id>/unit/<key>        the content of a unit that was counted
//	round/<id>/log/<number>      packed reports that were counted after the snapshot
//	round/<id>/snapshot          number of the next log entry, number of reports, aggregator
//	round/<id>/releases          the id of the notes of released sums when a round of two servers was opened
//	round/<id>/estimate/<part>   a GetEstimateResponse
//	round/<id>/release           the entry of the log about the estimate, if there is a log
//	used/<id>                    a Round: it is forgotten, and its id stays taken
//	logged                       the newest checkpoint of the log, if there is a log
//	model                        the current model, and model/ its parts: see server/internal/model
//
// Numbers are big-endian, so that they are in order. A round that has ended has no units, no
// log, no snapshot and no such id.
const (
	headPrefix   = "server/head/"
	roundsPrefix = "server/round/"
	usedPrefix   = "server/used/"
	modelKey     = "server/model"
)

// loggedKey is the key of the log's newest checkpoint.
var loggedKey = []byte("server/logged")

func headKey(id string) []byte { return []byte(headPrefix + id) }

func roundKey(id, what string) []byte { return []byte(roundsPrefix + id + "/" + what) }

func (r *round) key(what string) []byte { return roundKey(r.description.ID, what) }

func (r *round) unitKey(key string) []byte { return append(r.key("unit/"), key...) }

func (r *round) logKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64(r.key("log/"), number)
}

func estimateKey(id string, part uint32) []byte {
	return binary.BigEndian.AppendUint32(roundKey(id, "estimate/"), part)
}

// below deletes all keys that begin with prefix.
func below(b *journal.Batch, prefix []byte) { b.Delete(prefix, journal.After(prefix)) }

// head is how a round stands, as the journal has it.
type head struct {
	round         fl.Round
	state         service.RoundState
	closing       bool  // the operator waits for the shuffler
	reports       int64 // when the round has ended
	opened, ended time.Time
}

// put writes the head.
func (h head) put(b *journal.Batch) error {
	data, err := proto.Marshal(h.status())
	b.Put(headKey(h.round.ID), data)
	return err
}

func (h head) status() *service.RoundStatus {
	s := &service.RoundStatus{Round: h.round.Proto(), State: h.state, Closing: h.closing, Reports: uint64(h.reports), Opened: timestamppb.New(h.opened)}
	if !h.ended.IsZero() {
		s.Ended = timestamppb.New(h.ended)
	}
	return s
}

func unmarshalHead(data []byte) (h head, err error) {
	var s service.RoundStatus
	if err := proto.Unmarshal(data, &s); err != nil {
		return h, err
	}
	if h.round, err = fl.RoundFromProto(s.GetRound()); err != nil {
		return h, err
	}
	h.state, h.closing, h.reports, h.opened = s.GetState(), s.GetClosing(), int64(s.GetReports()), s.GetOpened().AsTime()
	if s.Ended != nil {
		h.ended = s.GetEnded().AsTime()
	}
	if _, known := service.RoundState_name[int32(h.state)]; !known || h.state == service.RoundState_ROUND_STATE_UNSPECIFIED {
		return h, fl.Invalid("state", h.state, "must be known")
	}
	return h, nil
}

// snapshot is the sum of the reports that are in no log entry any more.
type snapshot struct {
	next       uint64 // number of the next log entry
	reports    int64
	aggregator []byte
}

func (s snapshot) marshal() []byte {
	data := binary.BigEndian.AppendUint64(nil, s.next)
	data = binary.BigEndian.AppendUint64(data, uint64(s.reports))
	return append(data, s.aggregator...)
}

func unmarshalSnapshot(data []byte) (s snapshot, err error) {
	if len(data) < 16 {
		return s, fl.Invalid("snapshot", fmt.Sprintf("%d bytes", len(data)), "must have at least 16")
	}
	s.next, s.reports = binary.BigEndian.Uint64(data), int64(binary.BigEndian.Uint64(data[8:]))
	s.aggregator = data[16:]
	if s.reports < 0 || s.reports > fl.MaxReports {
		return s, fl.Invalid("snapshot", s.reports, "must hold at most %d reports", fl.MaxReports)
	}
	return s, nil
}
