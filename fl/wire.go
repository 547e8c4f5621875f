package fl

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

// maxRoundBytes bounds the encoding of a Round: 32 parameters and 8 columns with names
// and texts of the largest size fit, and the largest keys.
const maxRoundBytes = 20 << 10

var canonical = proto.MarshalOptions{Deterministic: true}

// MarshalBinary returns the canonical protobuf encoding (message
// hushgrad.v1.Round): fields in the order of their numbers, parameters sorted
// by name, columns as they are listed. Equal rounds have equal encodings.
func (r Round) MarshalBinary() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("fl: encode round: %w", err)
	}
	return canonical.Marshal(r.Proto())
}

// UnmarshalBinary reads the canonical encoding and nothing else: unknown
// fields, another order or a value that breaks Validate are errors, so that no
// party ever ignores a part of a Round.
func (r *Round) UnmarshalBinary(data []byte) error {
	if len(data) > maxRoundBytes {
		return fmt.Errorf("fl: decode round: %w", Invalid("round", fmt.Sprintf("%d bytes", len(data)), "must have at most %d", maxRoundBytes))
	}
	var m pb.Round
	if err := proto.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("fl: decode round: %w", err)
	}
	parsed, err := RoundFromProto(&m)
	if err != nil {
		return fmt.Errorf("fl: decode round: %w", err)
	}
	again, err := parsed.MarshalBinary()
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return fmt.Errorf("fl: decode round: %w", Invalid("round", fmt.Sprintf("%d bytes", len(data)), "must be the canonical encoding"))
	}
	*r = parsed
	return nil
}

// Proto returns the protobuf form. It does not validate.
func (r Round) Proto() *pb.Round {
	m := &pb.Round{
		Id:            r.ID,
		Mechanism:     r.Mechanism,
		Dim:           uint32(r.Dim),
		Scale:         r.Scale,
		Epsilon:       r.Epsilon,
		Delta:         r.Delta,
		Relation:      pb.Relation(r.Relation),
		MinReports:    uint32(r.MinReports),
		TargetReports: uint32(r.TargetReports),
		PublicSeed:    r.PublicSeed[:],
		Columns:       r.Columns,
		IssuerKey:     r.IssuerKey,
		Shuffler:      r.Shuffler,
		SealKey:       r.SealKey,
		Features:      r.Features,

		OuterIssuerKey: r.OuterIssuerKey,
		ShareKey:       r.ShareKey,
	}
	if !r.Deadline.IsZero() {
		m.Deadline = timestamppb.New(r.Deadline)
	}
	if len(r.Params) > 0 {
		m.Params = make(map[string]*pb.Value, len(r.Params))
		for name, v := range r.Params {
			m.Params[name] = v.proto()
		}
	}
	return m
}

// RoundFromProto reads the protobuf form and validates it. Unknown fields are
// errors.
func RoundFromProto(m *pb.Round) (Round, error) {
	r, err := RoundFromPartialProto(m)
	if err != nil {
		return Round{}, err
	}
	return r, r.Validate()
}

// RoundFromPartialProto reads a round that is still to be completed: it checks
// only what could not be represented.
func RoundFromPartialProto(m *pb.Round) (Round, error) {
	if m == nil {
		return Round{}, Invalid("round", "nothing", "is required")
	}
	if len(m.ProtoReflect().GetUnknown()) > 0 {
		return Round{}, Invalid("round", "an unknown field", "every field must be known to this version")
	}
	r := Round{
		ID:            m.GetId(),
		Mechanism:     m.GetMechanism(),
		Dim:           int(m.GetDim()),
		Scale:         m.GetScale(),
		Epsilon:       m.GetEpsilon(),
		Delta:         m.GetDelta(),
		MinReports:    int(m.GetMinReports()),
		TargetReports: int(m.GetTargetReports()),
		Columns:       m.GetColumns(),
		IssuerKey:     m.GetIssuerKey(),
		Shuffler:      m.GetShuffler(),
		SealKey:       m.GetSealKey(),
		Features:      m.GetFeatures(),

		OuterIssuerKey: m.GetOuterIssuerKey(),
		ShareKey:       m.GetShareKey(),
	}
	switch m.GetRelation() {
	case pb.Relation_RELATION_UNSPECIFIED, pb.Relation_RELATION_REPLACE_ONE, pb.Relation_RELATION_ZERO_OUT:
		r.Relation = Relation(m.GetRelation())
	default:
		return Round{}, Invalid("relation", m.GetRelation(), "must be known to this version")
	}
	if d := m.GetDeadline(); d != nil {
		if err := d.CheckValid(); err != nil {
			return Round{}, Invalid("deadline", err, "must be a valid timestamp")
		}
		r.Deadline = d.AsTime()
	}
	switch seed := m.GetPublicSeed(); len(seed) {
	case 0:
	case len(r.PublicSeed):
		copy(r.PublicSeed[:], seed)
	default:
		return Round{}, Invalid("public_seed", fmt.Sprintf("%d bytes", len(seed)), "must have %d", len(r.PublicSeed))
	}
	for name, v := range m.GetParams() {
		value, err := valueFromProto(name, v)
		if err != nil {
			return Round{}, err
		}
		if r.Params == nil {
			r.Params = make(Params, len(m.GetParams()))
		}
		r.Params[name] = value
	}
	return r, nil
}

func (v Value) proto() *pb.Value {
	switch v.kind {
	case integerValue:
		return &pb.Value{Kind: &pb.Value_Integer{Integer: v.integer}}
	case realValue:
		return &pb.Value{Kind: &pb.Value_Real{Real: v.real}}
	case textValue:
		return &pb.Value{Kind: &pb.Value_Text{Text: v.text}}
	}
	return &pb.Value{}
}

func valueFromProto(name string, m *pb.Value) (Value, error) {
	if len(m.ProtoReflect().GetUnknown()) > 0 {
		return Value{}, Invalid(name, "an unknown field", "every field must be known to this version")
	}
	switch k := m.GetKind().(type) {
	case *pb.Value_Integer:
		return Value{kind: integerValue, integer: k.Integer}, nil
	case *pb.Value_Real:
		return Real(k.Real), nil
	case *pb.Value_Text:
		return Text(k.Text), nil
	}
	return Value{}, Invalid(name, "no value this version knows", "must be an integer, a real number or a text")
}

// Equal reports whether two rounds describe the same thing, whatever the
// location of their deadlines.
func (r Round) Equal(o Round) bool { return proto.Equal(r.Proto(), o.Proto()) }

// Proto returns the protobuf form.
func (g Guarantee) Proto() *pb.Guarantee {
	return &pb.Guarantee{
		Trust:       pb.Trust(g.Trust),
		Epsilon:     g.Epsilon,
		Delta:       g.Delta,
		Relation:    pb.Relation(g.Relation),
		RealNumbers: g.RealNumbers,
		Sigma:       g.Sigma,
	}
}

// GuaranteeFromProto reads the protobuf form.
func GuaranteeFromProto(m *pb.Guarantee) Guarantee {
	return Guarantee{
		Trust:       Trust(m.GetTrust()),
		Epsilon:     m.GetEpsilon(),
		Delta:       m.GetDelta(),
		Relation:    Relation(m.GetRelation()),
		RealNumbers: m.GetRealNumbers(),
		Sigma:       m.GetSigma(),
	}
}
