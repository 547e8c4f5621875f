package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A real collector, with the file of docs/deploy, shows a client's request at the relay, at the shuffler and, as one of a batch, at the server, and a call
// of the issuer. Traces say nothing of clients, and the trace of one party does not continue the trace of another.
func TestACollectorShowsTheTraces(t *testing.T) {
	if !*long {
		t.Skip("it compiles a collector, which takes a minute of processor time")
	}
	const id, name = "traced", "shuffler.test"
	dir := t.TempDir()
	collector := filepath.Join(dir, "collector")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", collector, ".")
	build.Dir, build.Env = filepath.Join("testdata", "collector"), append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	config, err := os.ReadFile(filepath.Join(deployDir, "collector.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	at, shown := freeAddress(t), &log{}
	text := strings.ReplaceAll(string(config), "127.0.0.1:4317", at)
	run := exec.CommandContext(t.Context(), collector, "--config="+writeFile(t, dir, "collector.yaml", text))
	run.Stdout, run.Stderr = shown, shown
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	answers(t, at)

	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+at) // of all processes
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")            // ms
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	t.Setenv("SSL_CERT_FILE", cert)
	clients, operator, upstream, shuffled, http, relayed, issuers, keys := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	data := filepath.Join(dir, "server")
	gateway, public := gatewayKey(t, dir, "gateway.key")
	startCommand(t, "serve", "--data", data, "--listen", clients, "--operator-listen", operator, "--shuffler-listen", upstream)
	startCommand(t, "shuffle", "--listen", shuffled, "--name", name, "--floor", "2", "--upstream", upstream, "--http", http, "--ohttp-key", gateway)
	startCommand(t, relayRole, "--gateway", "http://"+http, "--listen", relayed)
	startCommand(t, "issue", "--listen", issuers, "--operator-listen", keys, "--tls-cert", cert, "--tls-key", key, "--bearer-file", writeFile(t, dir, "bearers", ""))
	answers(t, operator, upstream, http, relayed, keys)

	var sealKeys []listedKey
	if err := json.Unmarshal([]byte(printed(t, "serve", "keys", "--data", data, "--output", "json")), &sealKeys); err != nil || len(sealKeys) != 1 {
		t.Fatalf("%v, %v", sealKeys, err)
	}
	printed(t, "issue", "key", "--id", id, "--server", keys, "--tls-ca", cert)
	printed(t, "round", "--server", operator, "--id", id, "--shuffler", name, "--mechanism", "collision", "--dim", "3", "--epsilon", "4", "--min-reports", "2", "--param", "sparsity=2")
	for _, who := range []string{"anna", "bert"} {
		printed(t, "encode", "--relay", "http://"+relayed, "--relay-key", public, "--round", id, "--max-epsilon", "4", "--max-central-epsilon", "4",
			"--shuffler", name, "--seal-key", sealKeys[0].Fingerprint, writeFile(t, dir, who+".csv", who+",1,0.5\n"))
	}
	printed(t, "aggregate", "--server", operator, "--round", id, "--close")

	traces := map[string]map[string]bool{} // by service: the traces of its spans
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		all := shown.String()
		missing := ""
		for service, span := range map[string]string{
			"hushgrad-relay": "carry", "hushgrad-shuffle": "hushgrad.v1.Rounds/SubmitBatch", "hushgrad-serve": "hushgrad.v1.Shuffled/", "hushgrad-issue": "hushgrad.v1.IssuerOperator/",
		} {
			traces[service] = map[string]bool{}
			for _, part := range strings.Split(all, "ResourceSpans #")[1:] {
				if !strings.Contains(part, "service.name: Str("+service+")") {
					continue
				}
				for _, found := range regexp.MustCompile(`Trace ID +: ([0-9a-f]{32})`).FindAllStringSubmatch(part, -1) {
					traces[service][found[1]] = true
				}
				if strings.Contains(part, span) {
					span = ""
				}
			}
			if span != "" {
				missing = service + " has no span " + span
			}
		}
		if missing == "" && len(traces["hushgrad-relay"]) < 4 {
			missing = "hushgrad-relay has fewer than 4 traces, one for each request"
		}
		if missing == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %s", missing, all)
		}
	}
	all := shown.String()
	for _, word := range []string{"anna", "bert", "client.", "peer.", "user_agent"} {
		if strings.Contains(all, word) {
			t.Errorf("a trace has %q: %s", word, all)
		}
	}
	for carried := range traces["hushgrad-relay"] {
		if traces["hushgrad-shuffle"][carried] {
			t.Errorf("the trace %s of the relay goes on at the shuffler", carried)
		}
	}
	for batch := range traces["hushgrad-shuffle"] {
		if traces["hushgrad-serve"][batch] {
			t.Errorf("the trace %s of the shuffler goes on at the server", batch)
		}
	}
}
