package limits

import (
	"fmt"
	"net/url"

	"github.com/hushgrad/hushgrad/fl"
)

// CheckOrigins returns a *fl.ParamError unless each is the origin of a page as browsers send it:
// https, or http on this machine, and no path. Field is the name of the list.
func CheckOrigins(field string, origins []string) error {
	for i, origin := range origins {
		if err := CheckOrigin(fmt.Sprintf("%s[%d]", field, i), origin); err != nil {
			return err
		}
	}
	return nil
}

// CheckOrigin checks one origin.
func CheckOrigin(name, text string) error {
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
