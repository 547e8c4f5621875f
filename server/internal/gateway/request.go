package gateway

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/vanguard"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
)

// strictJSON is JSON whose unknown names are errors: a misspelled one would be a default.
func strictJSON(types vanguard.TypeResolver) vanguard.Codec {
	return jsonCodec{&vanguard.JSONCodec{
		MarshalOptions:   protojson.MarshalOptions{Resolver: types},
		UnmarshalOptions: protojson.UnmarshalOptions{Resolver: types},
	}}
}

type jsonCodec struct{ *vanguard.JSONCodec }

// Unmarshal implements vanguard.Codec.
func (c jsonCodec) Unmarshal(text []byte, into proto.Message) error {
	if err := c.JSONCodec.Unmarshal(text, into); err != nil {
		return connect.NewError(connect.CodeInvalidArgument, fl.Invalid("body", err.Error(), "must be the method's message in JSON"))
	}
	return nil
}

// encodings are the headers that say how a body is compressed.
var encodings = []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"}

// checked passes on requests that a call can be made of, and refuses the others before anything of
// their bodies is read.
func checked(next http.Handler, bodyBytes int64) http.Handler {
	refusals := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, status, err := check(r, bodyBytes)
		if err != nil {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			if refusals.IsSupported(r) && status == 0 {
				_ = refusals.Write(w, r, err)
				return
			}
			http.Error(w, err.Error(), cmp.Or(status, http.StatusBadRequest))
			return
		}
		if kind == "application/json" || kind == "application/proto" {
			r.Header.Set("Connect-Protocol-Version", "1") // which curl need not be told
		}
		r.Header.Set("Content-Type", kind)
		r.ContentLength = -1 // a length that is promised takes no memory
		if kind == "application/connect+json" {
			r.Body = &envelopes{ReadCloser: r.Body, most: uint32(bodyBytes)}
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// check returns the content type of a request, without parameters. A status of 0 is for an error that
// has a form in the protocol of the request.
func check(r *http.Request, bodyBytes int64) (kind string, status int, err error) {
	if r.Method != http.MethodPost {
		return "", http.StatusMethodNotAllowed, fl.Invalid("method", r.Method, "must be POST")
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || charset != "" && !strings.EqualFold(charset, "utf-8") || !kinds[kind] {
		return "", http.StatusUnsupportedMediaType, fl.Invalid("Content-Type", r.Header.Get("Content-Type"), "must be application/json, or one of Connect, gRPC-Web or gRPC")
	}
	for _, name := range encodings {
		if got := r.Header.Get(name); got != "" && got != "identity" {
			return "", 0, connect.NewError(connect.CodeUnimplemented, fl.Invalid(name, got, "must be identity: messages must not be compressed"))
		}
	}
	unary := kind == "application/json" || kind == "application/proto"
	if unary && r.ContentLength > bodyBytes {
		return "", 0, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("a message of %d bytes, must have at most %d", r.ContentLength, bodyBytes))
	}
	return kind, 0, nil
}

// kinds are the content types of calls.
var kinds = map[string]bool{
	"application/json": true, "application/proto": true,
	"application/connect+json": true, "application/connect+proto": true,
	"application/grpc-web": true, "application/grpc-web+proto": true,
	"application/grpc": true, "application/grpc+proto": true,
}
