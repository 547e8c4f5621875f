package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	connectcors "connectrpc.com/cors"
	"github.com/rs/cors"

	"github.com/hushgrad/hushgrad/fl"
)

// CheckOrigins returns a *fl.ParamError unless each is the origin of a page as browsers send it:
// https, or http on this machine, and no path.
func CheckOrigins(origins []string) error {
	for i, origin := range origins {
		if err := checkOrigin(fmt.Sprintf("HTTPOrigins[%d]", i), origin); err != nil {
			return err
		}
	}
	return nil
}

func checkOrigin(name, text string) error {
	const rule = "must be https:// and a host, such as https://example.org, or http:// and localhost or a loopback address"
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.String() != u.Scheme+"://"+u.Host || u.Hostname() == "*" {
		return fl.Invalid(name, text, rule)
	}
	switch host := u.Hostname(); u.Scheme {
	case "https":
		return nil
	case "http":
		if host == "localhost" || host == "127.0.0.1" || host == "::1" {
			return nil
		}
	}
	return fl.Invalid(name, text, rule)
}

// preflight is how long a browser may remember what it may send.
const preflight = 10 * time.Minute

// shared lets pages of these origins call. Without origins browsers let none but the listener's own.
func shared(next http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: []string{http.MethodPost}, AllowedHeaders: connectcors.AllowedHeaders(),
		ExposedHeaders: connectcors.ExposedHeaders(), MaxAge: int(preflight.Seconds()),
	}).Handler(next)
}
