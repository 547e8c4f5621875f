package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/internal/service"
	hushserver "github.com/hushgrad/hushgrad/server"
)

// watchers are the files that name figures of the services.
var watchers = []string{"alerts.yml", "grafana.json"}

// figureNames are the figures in a text.
func figureNames(text string) []string {
	names := regexp.MustCompile(`\bhushgrad_\w+`).FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// board is what Grafana reads of a dashboard.
type board struct {
	Panels []struct {
		Title   string
		Type    string
		Targets []struct{ Expr string }
	}
}

// docs/deploy.md lists the alerts in their order, with their severity.
func TestThePageListsTheAlerts(t *testing.T) {
	found := func(file, pattern string) (all []string) {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1]+" "+m[2])
		}
		return all
	}
	alerts := found("deploy/alerts.yml", `- alert: (\w+)\n(?: {8}.*\n)*? {8}labels: \{severity: (\w+)\}`)
	if listed := found("deploy.md", "\\| `(\\w+)` \\| (critical|warning) \\|"); len(alerts) < 10 || !slices.Equal(listed, alerts) {
		t.Errorf("the page has %v, and the file %v", listed, alerts)
	}
}

// An alert fires when it should, and is quiet otherwise.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"test", "rules", "alerts_test.yml"}} {
		check := exec.Command(promtool, args...)
		check.Dir = deployDir
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %s", args, out)
		}
	}
}

// A real Prometheus reads server, shuffler, issuer, relay, witness and monitor by the files of the page. It understands every alert and every chart of the dashboard, and
// the figures that they name are there.
func TestPrometheusReadsTheServices(t *testing.T) {
	if !*long {
		t.Skip("takes a second or two")
	}
	prometheus := tool(t, "prometheus")
	dir := t.TempDir()
	operator, upstream := freeAddress(t), freeAddress(t)
	monitored := []string{"--metrics-listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"}
	logFile, logKey := logKeys(t, dir, "test.example/log")
	witnessFile, witnessKey := logKeys(t, dir, "carol.example", "--for", "witness")
	web := freeAddress(t)
	server := runRole(t, append([]string{"serve", "--operator-listen", operator, "--shuffler-listen", upstream, "--data", filepath.Join(dir, "server"),
		"--log", filepath.Join(dir, "log"), "--log-key-file", logFile, "--log-witness", witnessKey, "--http", web}, monitored...)...)
	clients := slices.DeleteFunc(server.addresses(t, 3), func(address string) bool { return address == operator || address == upstream })[0]
	shuffler := runRole(t, append([]string{"shuffle", "--name", "127.0.0.1", "--floor", "3", "--data", filepath.Join(dir, "shuffler"), "--upstream", upstream}, monitored...)...)
	doors := freeAddress(t)
	_, bearer, err := hushserver.NewBearer("alice")
	if err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	issuer := runRole(t, append([]string{"issue", "--tls-cert", cert, "--tls-key", key, "--operator-listen", doors, "--data", filepath.Join(dir, "issuer"), "--bearer-file", writeFile(t, dir, "bearers", bearer+"\n")}, monitored...)...)
	tokens := slices.DeleteFunc(issuer.addresses(t, 2), func(address string) bool { return address == doors })[0]

	relay := runRole(t, append([]string{"relay", "--gateway", "http://" + web}, monitored...)...)
	following := []string{"--log", "http://" + web + "/log/", "--key", logKey, "--every", "100ms", "--metrics-listen", "127.0.0.1:0"}
	witness := runRole(t, append([]string{"log", "witness", "--key-file", witnessFile, "--state", filepath.Join(dir, "signed")}, following...)...)
	watcher := runRole(t, append([]string{"log", "monitor", "--state", filepath.Join(dir, "seen")}, following...)...)

	// A round, a batch that server and shuffler refuse each, and a client without a bearer.
	fingerprint := regexp.MustCompile(`fingerprint=([0-9a-f]{64})`).FindStringSubmatch(server.String())[1]
	printed(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "2", "--min-reports", "2", "--param", "sparsity=2", "--shuffler", "127.0.0.1")
	pairs := writeFile(t, dir, "pairs.csv", "anna,1,0.5\nbert,1,0.5\ncarl,1,0.5\n")
	encode := func(to string) []string {
		return []string{"encode", "--server", to, "--round", "r", "--max-epsilon", "2", "--shuffler", "127.0.0.1", "--seal-key", fingerprint, "--max-central-epsilon", "2", pairs}
	}
	refusal(t, encode(clients)...)
	printed(t, encode(shuffler.addresses(t, 1)[0])...)
	printed(t, "aggregate", "--server", operator, "--round", "r", "--close")
	trusted, err := credentials.NewClientTLSFromFile(cert, "")
	if err != nil {
		t.Fatal(err)
	}
	toShuffler, toIssuer := dial(t, shuffler.addresses(t, 1)[0], insecure.NewCredentials()), dial(t, tokens, trusted)
	if _, err := service.NewRoundsClient(toShuffler).SubmitBatch(t.Context(), &service.SubmitReportsRequest{RoundId: "r"}); err == nil {
		t.Error("the shuffler took a batch of a closed round")
	}
	if _, err := service.NewIssuerClient(toIssuer).IssueToken(t.Context(), &service.IssueTokenRequest{}); err == nil {
		t.Error("the issuer gave a token without a bearer")
	}

	config, err := os.ReadFile(filepath.Join(deployDir, "prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(config), "interval: 15s", "interval: 1s")
	text = regexp.MustCompile(`(?m)^      # (-|  labels)`).ReplaceAllString(text, "      $1") // what runs on some machines only
	roles := map[string]*log{"7121": server, "7127": shuffler, "7126": issuer, "7131": relay, "7132": witness, "7133": watcher}
	for port, role := range roles {
		address := role.monitor(t)
		if text = strings.Replace(text, "127.0.0.1:"+port, address, 1); !strings.Contains(text, address) {
			t.Fatalf("prometheus.yml has no port %s", port)
		}
	}
	texts := map[string]string{}
	for _, name := range watchers {
		content, err := os.ReadFile(filepath.Join(deployDir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(content)
		writeFile(t, dir, name, texts[name])
	}
	base := "http://" + startPrometheus(t, prometheus, dir, writeFile(t, dir, "prometheus.yml", text))

	var up struct{ Result []struct{ Value [2]any } }
	for end := time.Now().Add(30 * time.Second); len(up.Result) < len(roles); time.Sleep(100 * time.Millisecond) {
		queried(t, base+"/api/v1/query?query="+url.QueryEscape(`up{job="hushgrad"} == 1`), &up)
		if time.Now().After(end) {
			t.Fatalf("services that answer: %v, want %d", up.Result, len(roles))
		}
	}
	var there []string
	queried(t, base+"/api/v1/label/__name__/values", &there)
	for _, name := range figureNames(texts["alerts.yml"] + texts["grafana.json"]) {
		if !slices.Contains(there, name) && !strings.HasPrefix(name, "hushgrad_shard_") {
			t.Errorf("no service has the figure %s", name)
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Name, Health string }
		}
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		queried(t, base+"/api/v1/rules", &rules)
		bad := ""
		for _, r := range rules.Groups[0].Rules {
			if r.Health != "ok" {
				bad = r.Name + " is " + r.Health
			}
		}
		if bad == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatal(bad)
		}
	}
	var shown board
	if err := json.Unmarshal([]byte(texts["grafana.json"]), &shown); err != nil {
		t.Fatal(err)
	}
	charts := 0
	for _, p := range shown.Panels {
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h").Replace(target.Expr)
			queried(t, base+"/api/v1/query?query="+url.QueryEscape(expr), nil)
			charts++
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("chart %q shows nothing", p.Title)
		}
	}
	if charts < 20 {
		t.Errorf("%d charts", charts)
	}
}

// dial returns a connection that the test closes at its end.
func dial(t *testing.T, address string, creds credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// startPrometheus returns the address of a Prometheus.
func startPrometheus(t *testing.T, program, dir, config string) string {
	t.Helper()
	address := freeAddress(t)
	out, err := os.Create(filepath.Join(dir, "prometheus.log"))
	if err != nil {
		t.Fatal(err)
	}
	started := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+address)
	started.Stdout, started.Stderr = out, out
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		started.Process.Kill()
		started.Wait()
		out.Close()
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if resp, err := http.Get("http://" + address + "/-/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return address
			}
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(out.Name())
			t.Fatalf("Prometheus does not start: %s", text)
		}
	}
}

// queried reads an answer of Prometheus's interface into a value, unless it is nil.
func queried(t *testing.T, at string, into any) {
	t.Helper()
	code, text := page(t, http.DefaultClient, at)
	answer := struct{ Data any }{into}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || code != http.StatusOK {
		t.Fatal(fmt.Errorf("%s: %d, %s, %w", at, code, text, err))
	}
}
