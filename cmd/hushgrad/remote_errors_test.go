package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Who calls a server in a wrong way gets to know what to change, and a server's log says whom it refused.
func TestWrongCallsSayWhatToChange(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	selfSigned(t, cert, key)
	operatorAt, out := freeAddress(t), &log{}
	runLogging(t, out, "-tls-cert", cert, "-tls-key", key, "-operator-listen", operatorAt, "-operator-ca", cert, "-operator-name", "nobody")
	clients := freeAddress(t)
	run(t, "-listen", clients)
	for name, c := range map[string]struct {
		server string
		flags  []string
		want   string
	}{
		"the clients' listener":    {clients, nil, "must be its listener for hushgrad.v1.Operator, and is another one"},
		"no TLS":                   {operatorAt, nil, "a server with TLS needs -tls-ca"},
		"no certificate":           {operatorAt, []string{"-tls-ca", cert}, "give -tls-cert and -tls-key"},
		"the name of another role": {operatorAt, []string{"-tls-ca", cert, "-tls-cert", cert, "-tls-key", key}, "does not accept -tls-cert, and its log says why"},
	} {
		text := ""
		for range 50 { // a connection may break before the reason is read
			if text = refusal(t, append([]string{"rounds", "list", "-server", c.server}, c.flags...)...); strings.Contains(text, c.want) {
				break
			}
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
	out.waitFor(t, "a caller was refused")
	out.waitFor(t, "must have a name of -operator-name")
}
