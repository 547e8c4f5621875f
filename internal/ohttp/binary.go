package ohttp

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/bits"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The framing indicators of messages whose lengths are known.
const (
	knownRequest  = 0
	knownResponse = 1
)

// Request is a request in Binary HTTP.
type Request struct {
	Method, Scheme, Authority, Path string
	Header                          http.Header
	Content                         []byte
}

// Response is a final response in Binary HTTP.
type Response struct {
	Status  int
	Header  http.Header
	Content []byte
}

// leastPadded is the length of short messages with their padding.
const leastPadded = 4 << 10

// Padded returns to what length a message is padded: a power of two, so that its length says little.
func Padded(n int) int { return max(leastPadded, 1<<bits.Len(uint(max(n, 1)-1))) }

// pad adds zeros, which Binary HTTP allows behind a message.
func pad(message []byte) []byte {
	return append(message, make([]byte, Padded(len(message))-len(message))...)
}

// Encode returns the request with padding.
func (r *Request) Encode() []byte {
	out := appendNumber(nil, knownRequest)
	for _, part := range []string{r.Method, r.Scheme, r.Authority, r.Path} {
		out = appendText(out, part)
	}
	return pad(appendRest(out, r.Header, r.Content))
}

// Encode returns the response with padding.
func (r *Response) Encode() []byte {
	out := appendNumber(appendNumber(nil, knownResponse), uint64(r.Status))
	return pad(appendRest(out, r.Header, r.Content))
}

// appendRest appends fields, content and no trailers.
func appendRest(out []byte, fields http.Header, content []byte) []byte {
	var section []byte
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			section = appendText(appendText(section, strings.ToLower(name)), value)
		}
	}
	out = appendText(appendText(out, string(section)), string(content))
	return appendNumber(out, 0)
}

func appendText(out []byte, text string) []byte {
	return append(appendNumber(out, uint64(len(text))), text...)
}

// appendNumber appends an integer as QUIC does (RFC 9000, section 16).
func appendNumber(out []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(out, byte(n))
	case n < 1<<14:
		return binary.BigEndian.AppendUint16(out, uint16(n)|1<<14)
	case n < 1<<30:
		return binary.BigEndian.AppendUint32(out, uint32(n)|2<<30)
	}
	return binary.BigEndian.AppendUint64(out, n|3<<62)
}

// errBinary is the error of a message that is not what Binary HTTP says.
var errBinary = errors.New("the message must be in Binary HTTP, with known lengths")

// DecodeRequest reads a request. Its content is a part of message.
func DecodeRequest(message []byte) (*Request, error) {
	d := decoder{rest: message}
	if d.number() != knownRequest {
		return nil, errBinary
	}
	r := &Request{Method: string(d.part()), Scheme: string(d.part()), Authority: string(d.part()), Path: string(d.part())}
	if r.Header, r.Content = d.finish(); d.failed || r.Method == "" || r.Path == "" {
		return nil, errBinary
	}
	return r, nil
}

// DecodeResponse reads a response. Its content is a part of message. Informational responses before it are left out.
func DecodeResponse(message []byte) (*Response, error) {
	d := decoder{rest: message}
	if d.number() != knownResponse {
		return nil, errBinary
	}
	status := d.number()
	for ; !d.failed && 100 <= status && status < 200; status = d.number() {
		d.fields()
	}
	r := &Response{Status: int(status)}
	if r.Header, r.Content = d.finish(); d.failed || status < 200 || status > 599 {
		return nil, errBinary
	}
	return r, nil
}

// decoder reads a message. It takes no memory for what is only promised.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	if len(d.rest) == 0 {
		d.failed = true
		return 0
	}
	size := 1 << (d.rest[0] >> 6)
	if len(d.rest) < size {
		d.failed = true
		return 0
	}
	n := uint64(d.rest[0] & 0x3f)
	for _, b := range d.rest[1:size] {
		n = n<<8 | uint64(b)
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) part() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.failed = true
		return nil
	}
	part := d.rest[:n]
	d.rest = d.rest[n:]
	return part
}

// optional is a part that a message may end before.
func (d *decoder) optional() []byte {
	if len(d.rest) == 0 {
		return nil
	}
	return d.part()
}

// fields reads a section of fields.
func (d *decoder) fields() http.Header {
	section := decoder{rest: d.optional()}
	fields := http.Header{}
	for len(section.rest) > 0 && !section.failed {
		name, value := string(section.part()), string(section.part())
		if !httpguts.ValidHeaderFieldName(name) || name != strings.ToLower(name) || !httpguts.ValidHeaderFieldValue(value) {
			section.failed = true
		}
		fields.Add(name, value)
	}
	d.failed = d.failed || section.failed
	return fields
}

// finish reads fields, content, trailers, which are left out, and padding.
func (d *decoder) finish() (fields http.Header, content []byte) {
	fields, content = d.fields(), d.optional()
	d.fields()
	if slices.ContainsFunc(d.rest, func(b byte) bool { return b != 0 }) {
		d.failed = true
	}
	return fields, content
}
