//go:build unix

package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/hushgrad/hushgrad/internal/npy"
)

// containerUser is the user of the image.
const containerUser = 65532

// composeFile is what the test reads of compose.yaml.
type composeFile struct {
	Services map[string]*composeService
	Secrets  map[string]struct{ File string }
}

type composeService struct {
	Command, Volumes, Secrets, Ports, Profiles []string
	User, Restart                              string
	Environment                                map[string]string
	DependsOn                                  map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck                                struct {
		Test    []string
		Disable bool
	}
}

// machine runs the services of a compose file as processes: paths of containers are below dir, and every port is
// one that is free.
type machine struct {
	t       *testing.T
	dir     string
	program string
	file    composeFile
	ports   map[string]string // addresses by the port in the files
	logs    map[string]*log
	users   bool // services run as the users of the file
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir(), ports: map[string]string{}, logs: map[string]*log{}}
	for _, dir := range []string{filepath.Dir(m.dir), m.dir} { // for the user of the containers
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.users = os.Getuid() == 0 && reachable(m.dir)
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	m.program = filepath.Join(m.dir, "hushgrad")
	if err := os.WriteFile(m.program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(deployDir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &m.file); err != nil {
		t.Fatal(err)
	}
	return m
}

// reachable says whether every user reaches a directory. A directory for temporary files may be its owner's alone.
func reachable(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

// host is where the test has a path of the machine.
func (m *machine) host(path string) string { return filepath.Join(m.dir, "host", path) }

var portOf = regexp.MustCompile(`\b(?:0\.0\.0\.0|127\.0\.0\.1|localhost|serve|issue):(7\d{3})\b`)

// address is where a port of the files is.
func (m *machine) address(port string) string {
	if m.ports[port] == "" {
		m.ports[port] = freeAddress(m.t)
	}
	return m.ports[port]
}

// published is the address of a port that a service publishes.
func (m *machine) published(service, port string) string {
	m.t.Helper()
	for _, entry := range m.file.Services[service].Ports {
		if host, container, _ := strings.Cut(strings.TrimPrefix(entry, "127.0.0.1:"), ":"); host == port {
			return m.address(container)
		}
	}
	m.t.Fatalf("%s does not publish %s: %v", service, port, m.file.Services[service].Ports)
	return ""
}

// mapped returns a text of a service with what it mounts, and the ports, where the test has them.
func (m *machine) mapped(s *composeService, text string) string {
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		if strings.HasPrefix(parts[0], "./") { // one file, in a directory that is mounted, too
			continue
		}
		source, target := m.host(parts[0]), parts[1]
		if !strings.HasPrefix(parts[0], "/") {
			source = m.host("volumes/" + parts[0])
		}
		text = regexp.MustCompile(`(^|")`+regexp.QuoteMeta(target)+`(/|"|$)`).ReplaceAllString(text, "${1}"+source+"${2}")
	}
	return portOf.ReplaceAllStringFunc(text, func(found string) string { return m.address(found[strings.LastIndex(found, ":")+1:]) })
}

// command returns the command of a service, ready to start, with its volumes and files in their places.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	m.t.Helper()
	s := m.file.Services[name]
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		if file, ok := strings.CutPrefix(parts[0], "./"); ok {
			text, err := os.ReadFile(filepath.Join(deployDir, file))
			if err == nil {
				err = os.WriteFile(m.mapped(s, parts[1]), []byte(m.mapped(s, string(text))), 0o644)
			}
			if err != nil {
				m.t.Fatal(err)
			}
			continue
		}
		source := m.host(parts[0])
		if !strings.HasPrefix(parts[0], "/") {
			source = m.host("volumes/" + parts[0])
		}
		if err := os.MkdirAll(source, 0o755); err != nil { // as Docker makes a path that is not there
			m.t.Fatal(err)
		}
		if m.users && !strings.HasPrefix(parts[0], "/") {
			if err := os.Chown(source, containerUser, containerUser); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	for i, arg := range args {
		if secret, ok := strings.CutPrefix(arg, "/run/secrets/"); ok && slices.Contains(s.Secrets, secret) {
			text, err := os.ReadFile(filepath.Join(deployDir, m.file.Secrets[secret].File))
			if err != nil {
				m.t.Fatal(err)
			}
			args[i] = writeFile(m.t, m.dir, secret, m.mapped(s, string(text)))
			if err := os.Chmod(args[i], 0o644); err != nil {
				m.t.Fatal(err)
			}
		}
		args[i] = m.mapped(s, args[i])
	}
	c := exec.Command(m.program, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	for key, value := range s.Environment {
		c.Env = append(c.Env, key+"="+m.mapped(s, value))
	}
	if m.users {
		user := &syscall.Credential{Uid: containerUser, Gid: containerUser}
		if s.User != "" {
			if _, err := fmt.Sscanf(s.User, "%d:%d", &user.Uid, &user.Gid); err != nil {
				m.t.Fatal(err)
			}
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	}
	m.logs[name] = &log{}
	c.Stdout, c.Stderr = m.logs[name], m.logs[name]
	return c
}

// up starts a service after those that it waits for, and waits until it is healthy, or has ended well.
func (m *machine) up(name string, started map[string]bool) {
	m.t.Helper()
	if started[name] {
		return
	}
	started[name] = true
	s := m.file.Services[name]
	for other, on := range s.DependsOn {
		if on.Condition != "service_completed_successfully" || m.file.Services[other].Restart != "no" {
			m.t.Fatalf("%s waits for %s: %+v", name, other, on)
		}
		m.up(other, started)
	}
	c := m.command(name, slices.Clone(s.Command)...)
	if s.Healthcheck.Disable {
		if err := c.Run(); err != nil {
			m.t.Fatalf("%s: %v: %s", name, err, m.logs[name])
		}
		return
	}
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil || m.t.Failed() {
			m.t.Errorf("%s: %v:\n%.4000s", name, err, m.logs[name])
		}
	})
	check := []string{"CMD", "/hushgrad", "health", "--server", "127.0.0.1:7121"} // of the image
	if len(s.Healthcheck.Test) > 0 {
		check = slices.Clone(s.Healthcheck.Test)
	}
	log := m.logs[name]
	for try := 0; m.command(name, check[2:]...).Run() != nil; try++ {
		if try == 200 {
			m.t.Fatalf("%s is not healthy: %s\n%.4000s", name, m.logs[name], log)
		}
		time.Sleep(50 * time.Millisecond)
	}
	m.logs[name] = log
}

// The services of compose.yaml start from nothing, in the file's order and as the file's users, with certificates that the
// first one makes. Then the operator's service opens the rounds of training.toml, clients send through the shuffler with the
// secrets that were made, and the operator gets a model.
func TestComposeStartsFromNothing(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	t.Parallel()
	m := newMachine(t)
	started := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(m.file.Services)) {
		if m.file.Services[name].Profiles != nil {
			continue
		}
		if name != "certify" && len(m.file.Services[name].DependsOn) != 1 {
			t.Errorf("%s waits for %v", name, m.file.Services[name].DependsOn)
		}
		m.up(name, started)
	}
	made := m.host("/etc/hushgrad")
	pair, err := tls.LoadX509KeyPair(made+"/serve/cert.pem", made+"/serve/key.pem")
	if err != nil {
		t.Fatal(err)
	}
	// The test has no DNS for the names of services.
	if pair.Leaf.VerifyHostname("serve") != nil || pair.Leaf.VerifyHostname("issue") != nil {
		t.Errorf("the operator does not find the servers' names in their certificates: %v", pair.Leaf.DNSNames)
	}
	upstream, _, err := net.SplitHostPort(m.file.Services["shuffle"].Environment["HUSHGRAD_SHUFFLE_UPSTREAM"])
	if err != nil || pair.Leaf.VerifyHostname(upstream) != nil {
		t.Errorf("the shuffler does not find the name %q in the server's certificate: %v, %v", upstream, pair.Leaf.DNSNames, err)
	}

	people := []string{"alice", "bob", "carol"}
	for len(people) < 100 { // the floor of shuffle.toml
		people = append(people, fmt.Sprint("client-", len(people)))
	}
	if err := m.command("certify", "certify", "--clients", strings.Join(people, ","), "/etc/hushgrad").Run(); err != nil {
		t.Fatalf("%v: %s", err, m.logs["certify"])
	}
	time.Sleep(time.Second) // the issuer looks at its file once a second

	// The operator is a service of its own, with the profile train.
	train := m.file.Services["train"]
	run := m.command("train", slices.Clone(train.Command)...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	t.Cleanup(func() { _ = run.Process.Kill() })
	said := m.logs["train"]

	server := []string{"--server", m.published("serve", "7118"), "--tls-ca", made + "/operator/ca.pem", "--tls-cert", made + "/operator/cert.pem", "--tls-key", made + "/operator/key.pem"}
	keys := writeFile(t, m.dir, "keys.txt", "apples\npears\nfigs\n")
	fingerprint := regexp.MustCompile(`"fingerprint":"([0-9a-f]{64})"`).FindStringSubmatch(m.logs["serve"].String())
	if fingerprint == nil {
		t.Fatal("the server does not log its fingerprint")
	}
	var means [2][]float64
	for n := range means {
		id := fmt.Sprintf("training-%04d", n+1)
		for try := 0; !strings.Contains(printed(t, append([]string{"rounds", "list"}, server...)...), id); try++ {
			if try == 200 {
				t.Fatalf("round %s is not opened: %s", id, said)
			}
			time.Sleep(50 * time.Millisecond)
		}
		for _, name := range people {
			own := made + "/clients/" + name
			pairs := writeFile(t, m.dir, "pairs.csv", name+",pears,0.5\n"+name+",figs,-1\n")
			printed(t, "encode", "--server", m.published("shuffle", "7124"), "--tls-ca", own+"/ca.pem", "--round", id, "--keys", keys, "--max-epsilon", "2",
				"--max-central-epsilon", "1", "--shuffler", "shuffler.example", "--seal-key", fingerprint[1],
				"--issuer", m.published("issue", "7119"), "--issuer-tls-ca", own+"/ca.pem", "--bearer-file", own+"/secret", pairs)
		}
		var got struct {
			Reports   int
			Estimates []struct {
				Key    string
				Mean   float64
				StdErr float64 `json:"mean_stderr"`
			}
		}
		text := printed(t, append([]string{"aggregate", "--round", id, "--wait", "--keys", keys, "-o", "json"}, server...)...)
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Reports != len(people) || len(got.Estimates) != 3 {
			t.Fatalf("%d reports, %v: %s", got.Reports, err, text)
		}
		for i, want := range []float64{0, 0.5, -1} {
			e := got.Estimates[i]
			if math.Abs(e.Mean-want) > 7*e.StdErr || e.StdErr > 0.3 { // an honest run fails once in 10⁹
				t.Errorf("%s: %v, standard error %v, want %v", e.Key, e.Mean, e.StdErr, want)
			}
			means[n] = append(means[n], e.Mean)
		}
	}
	if err := <-ended; err != nil {
		t.Fatalf("the run: %v: %s", err, said)
	}
	model, err := os.ReadFile(m.mapped(train, "/data/trained.npy"))
	if err != nil {
		t.Fatal(err)
	}
	trained, err := npy.Read(bytes.NewReader(model), 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range trained { // a rate of 0.5 and a momentum of 0.9
		if want := -0.5 * (1.9*means[0][i] + means[1][i]); math.Abs(w-want) > 1e-9 {
			t.Errorf("weight %d of the trained model is %v, want %v", i, w, want)
		}
	}
}
