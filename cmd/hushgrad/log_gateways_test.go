package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server's log has the keys of its own gateway and of those that --log-gateway names, once each, also after a restart. Who has a key looks for it there,
// and the monitor finds a gateway that publishes another one.
func TestTheLogHasTheGatewaysKeys(t *testing.T) {
	dir := t.TempDir()
	file, public := logKeys(t, dir, "test.example/log")
	own, ownConfig := gatewayKey(t, dir, "own.key")
	shufflers, shufflersConfig := gatewayKey(t, dir, "shuffler.key")
	elsewhere, elsewhereConfig := gatewayKey(t, dir, "elsewhere.key")
	flags := []string{"--ohttp-key", own, "--log-gateway", shufflersConfig}
	first := startTwin(t, dir, "log", file, flags...)
	server := twin{folder: filepath.Join(dir, "again"), web: freeAddress(t)} // after a restart
	if err := os.CopyFS(server.folder, os.DirFS(first.folder)); err != nil {
		t.Fatal(err)
	}
	run(t, append(flags, "--log", server.folder, "--log-key-file", file, "--http", server.web)...)
	verify := func(flags ...string) (int, string) {
		return calls(t, append([]string{"log", "verify", "--log", server.url(), "--key", public}, flags...)...)
	}
	said := do(t, "log", "verify", "--log", server.url(), "--key", public, "--gateway-key", shufflersConfig, "--gateway-key", ownConfig)
	for _, want := range []string{": 3 entries", "entry 1 is the gateway's key " + shufflersConfig, "entry 0 is the gateway's key " + ownConfig} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if got := do(t, "log", "verify", "--log", server.url(), "--key", public, "--gateway-key", ownConfig, "--output", "json"); !strings.Contains(got, `"gateway_keys":[0]`) {
		t.Errorf("JSON: %s", got)
	}
	if code, text := verify("--gateway-key", ownConfig, "--gateway-key", elsewhereConfig); code != 1 || !strings.Contains(text, "the server's --log-gateway lacks it") {
		t.Errorf("another key: exit code %d: %s", code, text)
	}
	if code, text := verify("--gateway-key", "k"); code != 2 || !strings.Contains(text, "--gateway-key") {
		t.Errorf("no key: exit code %d: %s", code, text)
	}
	watch := func(gateway string) (int, string) {
		return calls(t, "log", "monitor", "--log", server.url(), "--key", public, "--state", filepath.Join(dir, "state"), "--once", "--gateway", gateway)
	}
	for name, c := range map[string]struct {
		key  string
		code int
		says string
	}{"in the log": {shufflers, 0, ""}, "another one": {elsewhere, 1, "published the key " + elsewhereConfig}, "none": {"", 1, "the answer is 405"}} {
		web := freeAddress(t)
		flags := []string{"--http", web}
		if c.key != "" {
			flags = append(flags, "--ohttp-key", c.key)
		}
		run(t, flags...)
		if code, text := watch("http://" + web); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: exit code %d, want %d with %q: %s", name, code, c.code, c.says, text)
		}
	}
	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer strange.Close()
	if code, text := watch(strange.URL); code != 1 || !strings.Contains(text, "published 5 bytes that are no list of keys") {
		t.Errorf("other bytes than keys: exit code %d: %s", code, text)
	}
	if code, text := watch("localhost"); code != 2 || !strings.Contains(text, "--gateway") {
		t.Errorf("no URL: exit code %d: %s", code, text)
	}
}
