package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/seal"
)

// What keeps a role from starting is a line of its log like any other: --log-format may come from the command line,
// the environment or the file, also when another setting there is wrong.
func TestFatalErrorsAreInTheFormatOfTheLog(t *testing.T) {
	dir := t.TempDir()
	wrongKey := writeFile(t, dir, "key.toml", "colour = 'red'\nlog-format = 'json'\n")
	taken := run(t)[0]
	for name, c := range map[string]struct {
		args        []string
		environment string
		code        int
		want        string
	}{
		"an address that is taken": {[]string{"serve", "--log-format", "json", "--data", "none", "--listen", taken}, "", 1, "--listen: "},
		"a certificate":            {[]string{"serve", "--log-format", "json", "--tls-cert", "absent", "--tls-key", "absent"}, "", 1, "--tls-cert"},
		"a wrong call":             {[]string{"shuffle", "--log-format", "json"}, "", 2, "--name: "},
		"the environment":          {[]string{"issue"}, "HUSHGRAD_ISSUE_LOG_FORMAT=json", 2, "--client-ca or --bearer-file"},
		"the file":                 {[]string{"serve", "--config", wrongKey}, "", 2, "colour: "},
	} {
		t.Run(name, func(t *testing.T) {
			if key, value, found := strings.Cut(c.environment, "="); found {
				t.Setenv(key, value)
			}
			var out bytes.Buffer
			code := call(t.Context(), c.args, io.Discard, &out)
			lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
			var last struct{ Level, Msg, Error string }
			for _, line := range lines {
				if err := json.Unmarshal(line, &last); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			if code != c.code || last.Level != "ERROR" || last.Msg != "hushgrad "+c.args[0]+" has ended" || !strings.Contains(last.Error, c.want) {
				t.Errorf("exit code %d, last line %+v, want %d and an error with %q", code, last, c.code, c.want)
			}
		})
	}
}

// The lines that name addresses say whose they are.
func TestTheLogSaysWhichListenerServes(t *testing.T) {
	var out log
	clients, operator, shuffler := freeAddress(t), freeAddress(t), freeAddress(t)
	runLogging(t, &out, "--listen", clients, "--operator-listen", operator, "--shuffler-listen", shuffler)
	for listener, address := range map[string]string{"clients": clients, "operator": operator, "shuffler": shuffler} {
		out.waitFor(t, "msg=serving address="+address+" listener="+listener)
	}
}

// A log has the same words in both formats, so that a fingerprint of it can be compared with one that is listed.
func TestLogsHaveTheSameWordsInBothFormats(t *testing.T) {
	fingerprint := seal.FingerprintOf([]byte("key"))
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		(&logging{format: format}).logger(&out).Info("stopping", "timeout", 2*time.Second, "fingerprint", fingerprint)
		if format == "text" {
			if want := []byte("timeout=2s fingerprint=" + fingerprint.String()); !bytes.Contains(out.Bytes(), want) {
				t.Errorf("%s lacks %s", out.Bytes(), want)
			}
			continue
		}
		var line struct{ Timeout, Fingerprint any }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Timeout != "2s" || line.Fingerprint != fingerprint.String() {
			t.Errorf("%s, %v", out.Bytes(), err)
		}
	}
}
