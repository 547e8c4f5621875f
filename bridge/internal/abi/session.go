package abi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/mechanisms" // a round names any of them
)

// Protocol is the version of the frames and operations. It grows with every change that an
// older peer would misread.
const Protocol = 1

// MaxHandles is the largest number of objects of a session.
const MaxHandles = 1 << 16

// Session holds the objects that requests have made. It is not safe for concurrent use.
type Session struct {
	objects  map[uint64]any
	last     uint64
	accepter fl.Accepter
}

// NewSession returns a session without objects. Close it to close its ledgers.
func NewSession() *Session { return &Session{objects: map[uint64]any{}} }

// Close ends all objects.
func (s *Session) Close() {
	for handle := range s.objects {
		s.release(handle)
	}
}

// release ends an object. A handle that is not known is none.
func (s *Session) release(handle uint64) {
	if c, ok := s.objects[handle].(io.Closer); ok {
		_ = c.Close() // a ledger is on disk before any of its answers
	}
	delete(s.objects, handle)
}

// hold makes a handle for an object.
func (s *Session) hold(object any) (uint64, error) {
	if len(s.objects) >= MaxHandles {
		return 0, fl.Invalid("handles", len(s.objects)+1, "must be at most %d: release some", MaxHandles)
	}
	s.last++
	s.objects[s.last] = object
	return s.last, nil
}

// held returns the object of a handle. name is the argument's.
func held[T any](s *Session, name string, handle uint64) (object T, err error) {
	object, ok := s.objects[handle].(T)
	if !ok {
		return object, fl.Invalid(name, handle, "must be the handle of an open object of this kind")
	}
	return object, nil
}

// request is the header of a request.
type request struct {
	Op      string          `json:"op"`
	Release []uint64        `json:"release"`
	Args    json.RawMessage `json:"args"`
}

// reply is the header of an answer.
type reply struct {
	Answer any      `json:"answer,omitempty"`
	Error  *failure `json:"error,omitempty"`
}

// none is an answer that says nothing.
type none struct{}

// nothing is the operation of a request that only releases handles.
func nothing(context.Context, *Session, none, []byte) (any, []byte, error) { return none{}, nil, nil }

// operation answers one request.
type operation func(ctx context.Context, s *Session, args json.RawMessage, payload []byte) (answer any, out []byte, err error)

// reading makes an operation of a function that takes decoded arguments.
func reading[A any](f func(ctx context.Context, s *Session, args A, payload []byte) (any, []byte, error)) operation {
	return func(ctx context.Context, s *Session, raw json.RawMessage, payload []byte) (any, []byte, error) {
		var args A
		if err := strictly(raw, &args, "args"); err != nil {
			return nil, nil, err
		}
		return f(ctx, s, args, payload)
	}
}

// on is reading for a function that takes the object of a handle, too. object returns the name of the argument
// that has the handle, and the handle.
func on[A interface{ object() (string, uint64) }, T any](f func(ctx context.Context, s *Session, object T, args A, payload []byte) (any, []byte, error)) operation {
	return reading(func(ctx context.Context, s *Session, args A, payload []byte) (any, []byte, error) {
		name, handle := args.object()
		object, err := held[T](s, name, handle)
		if err != nil {
			return nil, nil, err
		}
		return f(ctx, s, object, args, payload)
	})
}

// operations are listed in the documentation of the package.
var operations = map[string]operation{
	"round.new": reading(roundNew), "round.open": reading(roundOpen), "token": on(token), "encode": on(encode),
	"records.new": on(newRecords), "records.add": on(addRecords), "records.encode": on(encodeRecords),
	"aggregator": on(newAggregator), "add": on(add), "merge": on(merge),
	"snapshot": on(takeSnapshot), "restore": on(restore), "estimate": on(estimate), "release": reading(nothing),
}

// strictly decodes JSON and refuses unknown names and what follows.
func strictly(raw []byte, into any, name string) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && decoder.More() {
		err = fmt.Errorf("something behind the object")
	}
	if _, ok := errors.AsType[*fl.ParamError](err); ok || err == nil {
		return err
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fl.Invalid(wrong.Field, strings.TrimPrefix(wrong.Value, "number "), "must be %s", inWords(wrong.Type))
	}
	if unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fl.Invalid(strings.Trim(unknown, `"`), "a value", "must be left out: there is no such name")
	}
	return fl.Invalid(name, err.Error(), "must be one JSON object with the names of the operation")
}

// inWords says what JSON has to have for a type.
func inWords(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[number]():
		return fmt.Sprintf("a number or %q", infinite)
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "an object"
	}
	return "a whole number of 64 bits"
}

// Call answers one request: the header of the answer, and its payload. It keeps neither
// argument. Bad requests are errors in the answer.
func (s *Session) Call(ctx context.Context, header, payload []byte) (answer, out []byte) {
	result, out, err := s.call(ctx, header, payload)
	if err == nil {
		if answer, err = json.Marshal(reply{Answer: result}); err == nil {
			return answer, out
		}
	}
	answer, err = json.Marshal(reply{Error: failureOf(err)})
	if err != nil {
		answer = []byte(`{"error": {"kind": "other", "message": "the error cannot be written"}}`)
	}
	return answer, nil
}

func (s *Session) call(ctx context.Context, header, payload []byte) (any, []byte, error) {
	var r request
	if err := strictly(header, &r, "header"); err != nil {
		return nil, nil, err
	}
	for _, handle := range r.Release {
		s.release(handle)
	}
	run, ok := operations[r.Op]
	if !ok {
		return nil, nil, fl.Invalid("op", r.Op, "must be one of %s", strings.Join(slices.Sorted(maps.Keys(operations)), ", "))
	}
	return run(ctx, s, r.Args, payload)
}

// Serve greets and answers requests until the stream ends, which is no error, or ctx is done.
// memory is what the one who asks shares, or nil.
func Serve(ctx context.Context, in io.Reader, out io.Writer, memory *Memory) error {
	greeting, err := json.Marshal(struct {
		Protocol   int      `json:"protocol"`
		Mechanisms []string `json:"mechanisms"`
	}{Protocol, fl.Mechanisms()})
	if err != nil {
		return err
	}
	if err := writeFrame(out, greeting, nil); err != nil {
		return err
	}
	session := NewSession()
	defer session.Close()
	frames := &frameReader{in: in, memory: memory}
	for ctx.Err() == nil {
		header, payload, err := frames.next()
		if ended(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("abi: read a request: %w", err)
		}
		answer, result := session.Call(ctx, header, payload)
		if err := writeFrame(out, answer, result); err != nil {
			return fmt.Errorf("abi: write an answer: %w", err)
		}
	}
	return ctx.Err()
}
