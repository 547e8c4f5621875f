package main

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shows waits until the figures of a process have all of want.
func shows(t *testing.T, out *log, want ...string) {
	t.Helper()
	base := "http://" + out.monitor(t)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, text := page(t, http.DefaultClient, base+"/metrics")
		missing := ""
		for _, line := range want {
			if !strings.Contains(text, "\n"+line+"\n") {
				missing = line
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no figure %q: %s", missing, regexp.MustCompile(`(?m)^hushgrad_(log|ready).*$`).FindAllString(text, -1))
		}
	}
}

// Figures say how many entries the log has, how many a witness has signed, and whether a monitor has found anything. A follower of a log that does not
// answer is not ready.
func TestFiguresOfTheLog(t *testing.T) {
	dir := t.TempDir()
	file, public := logKeys(t, dir, "test.example/log")
	own, witness := logKeys(t, dir, "carol.example", "--for", "witness")
	known := strings.Join(strings.Split(witness, "+")[:2], "+")
	web, operator := freeAddress(t), freeAddress(t)
	server := runRole(t, "serve", "--listen", "127.0.0.1:0", "--operator-listen", operator, "--data", filepath.Join(dir, "server"), "--metrics-listen", "127.0.0.1:0",
		"--log", filepath.Join(dir, "log"), "--log-key-file", file, "--log-witness", witness, "--http", web)
	shows(t, server, "hushgrad_log_entries 0", `hushgrad_log_witnessed_entries{witness="`+known+`"} 0`)
	twin{operator: operator}.openOne(t, "r", "1")
	shows(t, server, "hushgrad_log_entries 1", `hushgrad_log_witnessed_entries{witness="`+known+`"} 0`)
	url := "http://" + web + "/log/"
	shows(t, runRole(t, "log", "witness", "--log", url, "--key", public, "--key-file", own, "--state", filepath.Join(dir, "seen"), "--every", "100ms", "--metrics-listen", "127.0.0.1:0"), "hushgrad_log_checked_entries 1", "hushgrad_ready 1")
	shows(t, server, "hushgrad_log_entries 1", `hushgrad_log_witnessed_entries{witness="`+known+`"} 1`)
	shows(t, runRole(t, "log", "monitor", "--log", url, "--key", public, "--state", filepath.Join(dir, "read"), "--metrics-listen", "127.0.0.1:0"), "hushgrad_log_checked_entries 1", "hushgrad_log_findings 0", "hushgrad_ready 1")
	away := "http://" + freeAddress(t) + "/log/"
	shows(t, runRole(t, "log", "monitor", "--log", away, "--key", public, "--state", filepath.Join(dir, "other"), "--metrics-listen", "127.0.0.1:0"), "hushgrad_ready 0")
}
