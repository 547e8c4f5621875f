// Package origin checks the origins of pages that may call over HTTP. Use it on the settings of a
// listener for browsers. Start with [CheckAll].
package origin

import (
	"fmt"
	"net/url"

	"github.com/hushgrad/hushgrad/fl"
)

// CheckAll returns a *fl.ParamError unless each is the origin of a page as browsers send it:
// https, or http on this machine, and no path. Field is the name of the list.
func CheckAll(field string, origins []string) error {
	for i, origin := range origins {
		if err := Check(fmt.Sprintf("%s[%d]", field, i), origin); err != nil {
			return err
		}
	}
	return nil
}

// Check checks one origin.
func Check(name, text string) error {
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
