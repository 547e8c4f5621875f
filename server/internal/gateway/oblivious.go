package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/server/internal/guard"
)

// oblivious answers requests that a relay carries (RFC 9458), from the same handler as those that come directly, and gives
// whoever asks its key configurations. It sees the relay, and not who sent a request.
type oblivious struct {
	keys  ohttp.Keys
	most  int64 // of a message in its encapsulation
	inner http.Handler
}

// withOblivious answers what relays carry with inner, and passes on what is not for a gateway. bodyBytes bounds a body.
func withOblivious(keys ohttp.Keys, bodyBytes int, inner, next http.Handler) http.Handler {
	o := &oblivious{keys, int64(ohttp.Padded(bodyBytes+4<<10) + ohttp.Overhead), inner}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != ohttp.GatewayPath:
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			guard.Whole(http.HandlerFunc(o.publish)).ServeHTTP(w, r)
		default:
			o.receive(w, r)
		}
	})
}

// publish gives the key configurations.
func (o *oblivious) publish(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", ohttp.KeysType)
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write(o.keys.Encoded()) // who does not wait for them asks again
}

// receive reads a request and answers it.
func (o *oblivious) receive(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodPost:
		http.Error(w, "the method must be POST", http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Content-Type") != ohttp.RequestType:
		http.Error(w, "the Content-Type must be "+ohttp.RequestType, http.StatusUnsupportedMediaType)
		return
	case r.ContentLength > o.most:
		http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
		return
	}
	// The guard ends the context of a call that makes no progress, and a read has to notice it.
	stop := context.AfterFunc(r.Context(), func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })
	sealed, err := io.ReadAll(io.LimitReader(r.Body, o.most+1)) // memory grows with what has come
	stop()
	switch {
	case err != nil:
		http.Error(w, "the message must be there as a whole", http.StatusBadRequest)
		return
	case int64(len(sealed)) > o.most:
		http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
		return
	}
	// The relay has sent a whole message, and is not to blame for a client that sends nonsense.
	guard.Whole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.answer(w, r, sealed) })).ServeHTTP(w, r)
}

// answer opens a request and seals the answer to it.
func (o *oblivious) answer(w http.ResponseWriter, r *http.Request, sealed []byte) {
	message, to, err := o.keys.Open(sealed)
	if errors.Is(err, ohttp.ErrKey) {
		w.Header().Set("Content-Type", ohttp.ProblemType)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, ohttp.KeyProblem)
		return
	}
	if err != nil {
		http.Error(w, "the message cannot be opened", http.StatusBadRequest)
		return
	}
	response := o.ask(r, message).Encode()
	if sealed, err = to.Seal(response); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", ohttp.ResponseType)
	_, _ = w.Write(sealed) // a relay that is gone gets nothing
}

// ask hands an opened request to the handler. Nothing of the relay's own request goes with it but its address.
func (o *oblivious) ask(outer *http.Request, message []byte) *ohttp.Response {
	in, err := ohttp.DecodeRequest(message)
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	to, err := url.ParseRequestURI(in.Path)
	if err != nil || to.IsAbs() {
		return refusal(http.StatusBadRequest, "the path must be one of a service")
	}
	if kind := in.Header.Get("Content-Type"); kind != "application/json" && kind != "application/proto" {
		return refusal(http.StatusUnsupportedMediaType, "the Content-Type must be application/json or application/proto: there are no streams through a relay")
	}
	r := (&http.Request{
		Method: in.Method, URL: to, Header: in.Header, Host: in.Authority, RequestURI: in.Path, RemoteAddr: outer.RemoteAddr,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(bytes.NewReader(in.Content)), ContentLength: int64(len(in.Content)),
	}).WithContext(outer.Context())
	w := &recorder{header: http.Header{}, most: o.most}
	o.inner.ServeHTTP(w, r)
	if w.tooLong {
		return refusal(http.StatusInternalServerError, "the answer is too long for a relay")
	}
	out := &ohttp.Response{Status: max(w.status, http.StatusOK), Header: http.Header{}, Content: w.body.Bytes()}
	if kind := w.header.Get("Content-Type"); kind != "" {
		out.Header.Set("Content-Type", kind)
	}
	return out
}

func refusal(status int, text string) *ohttp.Response {
	return &ohttp.Response{Status: status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Content: []byte(text)}
}

// recorder keeps an answer.
type recorder struct {
	header  http.Header
	status  int // 0 before there is one
	body    bytes.Buffer
	most    int64
	tooLong bool
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	if int64(r.body.Len()+len(p)) > r.most {
		r.tooLong = true
		return 0, http.ErrContentLength
	}
	return r.body.Write(p)
}

// Flush implements http.Flusher, which gRPC asks for.
func (r *recorder) Flush() {}
