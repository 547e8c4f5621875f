package gateway

import (
	"net/http"
	"time"

	connectcors "connectrpc.com/cors"
	"github.com/rs/cors"
)

// preflight is how long a browser may remember what it may send.
const preflight = 10 * time.Minute

// shared lets pages of these origins call, with these headers beside the protocols' headers. Without
// origins browsers let none but the listener's own.
func shared(next http.Handler, origins, headers []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: []string{http.MethodPost}, AllowedHeaders: append(connectcors.AllowedHeaders(), headers...),
		ExposedHeaders: connectcors.ExposedHeaders(), MaxAge: int(preflight.Seconds()),
	}).Handler(next)
}
