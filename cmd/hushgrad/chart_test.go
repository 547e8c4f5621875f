//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// chartDir is the chart for Helm.
const chartDir = deployDir + "/chart"

// manifest is what the tests read of a rendered manifest.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Ports    []struct{ Port int }
		Template struct{ Spec pod }
		Ingress  []struct {
			Ports []struct{ Port int }
			From  []map[string]struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			}
		}
	}
}

type pod struct {
	EnableServiceLinks *bool `yaml:"enableServiceLinks"`
	Containers         []struct {
		Name           string
		Args           []string
		Env            []struct{ Name, Value string }
		ReadinessProbe probe `yaml:"readinessProbe"`
		LivenessProbe  probe `yaml:"livenessProbe"`
		VolumeMounts   []struct {
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
}

type probe struct {
	Exec      struct{ Command []string }
	TCPSocket struct{ Port any } `yaml:"tcpSocket"`
}

// helm returns a call of Helm, which is skipped where Helm is not installed.
func helm(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	contents(t, chartDir) // so that go test runs the test again when a file of the chart has changed
	return exec.Command(tool(t, "helm"), append(args, "--kube-version", "1.30.0")...)
}

// rendered returns what Helm makes of the chart.
func rendered(t *testing.T, args ...string) []manifest {
	t.Helper()
	render := helm(t, append([]string{"template", "hushgrad", chartDir}, args...)...)
	var out, said bytes.Buffer
	render.Stdout, render.Stderr = &out, &said
	if err := render.Run(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, said.String())
	}
	var all []manifest
	for parse := yaml.NewDecoder(&out); ; {
		var m manifest
		err := parse.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil || m.Kind == "" || m.Metadata.Name == "" {
			t.Fatalf("%v: %+v, %v", args, m, err)
		}
		all = append(all, m)
	}
}

// everything turns all of the chart on.
const everything = `
serve: {operatorFrom: [{podSelector: {matchLabels: {app: trainer}}}], shufflerFrom: [{ipBlock: {cidr: 192.0.2.0/24}}], env: {HUSHGRAD_SERVE_MIN_FREE: "1073741824"}, service: {type: LoadBalancer, annotations: {a: b}}, storage: {className: fast}}
issue: {operatorFrom: [{podSelector: {matchLabels: {app: trainer}}}]}
imagePullSecrets: [{name: registry}]
metrics: {enabled: true, from: [{podSelector: {matchLabels: {app: prometheus}}}], serviceMonitor: {enabled: true}}
podDisruptionBudget: {maxUnavailable: 0}
`

// Helm finds nothing wrong, and refuses values that the chart does not have.
func TestTheChartIsLinted(t *testing.T) {
	all := writeFile(t, t.TempDir(), "values.yaml", everything)
	for _, args := range [][]string{nil, {"--values", all}} {
		if out, err := helm(t, append([]string{"lint", "--strict", chartDir}, args...)...).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", args, out)
		}
	}
	for _, set := range []string{"serve.secrt=a", "serve.secret=", "shuffle.floor=0", "shuffle.upstream=serve", "serve.env.HUSHGRAD_ISSUE_DATA=a", "podDisruptionBudget.maxUnavailable=2", "roles=a"} {
		out, err := helm(t, "template", "hushgrad", chartDir, "--set", set).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "values don't meet the specifications of the schema") {
			t.Errorf("%s: %v: %s", set, err, out)
		}
	}
}

// The roles of the chart take their files and variables, and have the ports of compose.yaml: clients' ports on the
// Service of values.yaml, and the others within the cluster. There only the shuffler reaches the port for the shuffler.
func TestTheChartRunsTheRoles(t *testing.T) {
	want := map[string]bool{}
	for role, s := range newMachine(t).file.Services {
		for _, entry := range s.Ports {
			service, suffix := "hushgrad-"+role, ""
			if strings.HasPrefix(entry, "127.0.0.1:") {
				suffix = "-internal"
			}
			want[service+suffix+entry[strings.LastIndex(entry, ":"):]] = true
		}
	}
	all := writeFile(t, t.TempDir(), "values.yaml", everything)
	for _, args := range [][]string{nil, {"--values", all}} {
		kinds, pods, configs, ports := map[string]int{}, map[string]pod{}, map[string]string{}, map[string]bool{}
		for _, m := range rendered(t, args...) {
			kinds[m.Kind]++
			switch m.Kind {
			case "StatefulSet", "Deployment":
				pods[m.Spec.Template.Spec.Containers[0].Name] = m.Spec.Template.Spec
			case "ConfigMap":
				maps.Copy(configs, m.Data)
			case "Service":
				for _, p := range m.Spec.Ports {
					if !strings.HasSuffix(m.Metadata.Name, "-metrics") {
						ports[fmt.Sprintf("%s:%d", m.Metadata.Name, p.Port)] = true
					}
				}
			case "NetworkPolicy":
				checkPolicy(t, m, len(args) > 0)
			}
		}
		counts := map[string]int{"StatefulSet": 2, "Deployment": 1, "PersistentVolumeClaim": 1, "ConfigMap": 3, "Service": 5, "NetworkPolicy": 3, "PodDisruptionBudget": 3}
		if len(args) > 0 {
			counts["Service"], counts["ServiceMonitor"] = 8, 3
		}
		if !maps.Equal(kinds, counts) {
			t.Errorf("%v: %v, want %v", args, kinds, counts)
		}
		if !maps.Equal(ports, want) {
			t.Errorf("%v: services have %v, compose.yaml %v", args, ports, want)
		}
		for role, flags := range map[string]job{"serve": &serveFlags{}, "shuffle": &shuffleFlags{}, "issue": &issueFlags{}} {
			checkRole(t, role, flags, pods[role], configs[role+".toml"])
		}
	}
}

// checkRole parses the command line of a role with its file and its variables, and looks for the files that they name.
func checkRole(t *testing.T, role string, flags job, p pod, config string) {
	t.Helper()
	if p.EnableServiceLinks == nil || *p.EnableServiceLinks {
		t.Errorf("%s: variables of services are not off", role)
	}
	same, err := os.ReadFile(filepath.Join(deployDir, role+".toml"))
	if err != nil || config != string(same) {
		t.Errorf("%s: the file differs from the one in docs/deploy: %q, %v", role, config, err)
	}
	c := p.Containers[0]
	mounted := func(path string) bool {
		for _, v := range c.VolumeMounts {
			if strings.HasPrefix(path, v.MountPath+"/") {
				return true
			}
		}
		return false
	}
	if !slices.Equal(c.Args, []string{role, "--config", "/etc/hushgrad/config/" + role + ".toml"}) || !mounted(c.Args[2]) {
		t.Errorf("%s: arguments %v", role, c.Args)
	}
	paths, open := regexp.MustCompile(`"(/etc/[^"]+)"`).FindAllStringSubmatch(config, -1), false
	for _, v := range c.Env {
		t.Setenv(v.Name, v.Value)
		open = open || strings.HasSuffix(v.Name, "_METRICS_LISTEN")
		if strings.HasPrefix(v.Value, "/") {
			paths = append(paths, []string{v.Name, v.Value})
		}
	}
	for _, path := range paths {
		if !mounted(path[1]) {
			t.Errorf("%s: %s is not mounted", role, path[1])
		}
	}
	if err := parse(role, flags, "--config", writeFile(t, t.TempDir(), role+".toml", config)); err != nil {
		t.Errorf("%s: %v", role, err)
	}
	monitor := regexp.MustCompile(`metrics-listen = "(.*)"`).FindStringSubmatch(config)[1]
	for _, probed := range []probe{c.ReadinessProbe, c.LivenessProbe} {
		command := probed.Exec.Command
		switch {
		case open && probed.TCPSocket.Port == "metrics":
		case open || len(command) < 4 || command[0] != "/hushgrad" || command[len(command)-1] != monitor:
			t.Errorf("%s: probe %+v, want one of %s", role, probed, monitor)
		default: // nobody is there, but the flags are known
			if err := try(t, command[1:]); err != nil && !errors.Is(err, errNotReady) {
				t.Errorf("%s: probe %v: %v", role, command, err)
			}
		}
	}
}

// checkPolicy finds nobody but the shuffler at the port for the shuffler, and nobody who is not listed at the ports of operators.
func checkPolicy(t *testing.T, m manifest, listed bool) {
	t.Helper()
	for _, rule := range m.Spec.Ingress {
		for _, p := range rule.Ports {
			switch port := p.Port; port {
			case 7117, 7119, 7124:
				if len(rule.From) > 0 {
					t.Errorf("%s: %d is only for %v", m.Metadata.Name, port, rule.From)
				}
			case 7123:
				if len(rule.From) == 0 || rule.From[0]["podSelector"].MatchLabels["app.kubernetes.io/component"] != "shuffle" || len(rule.From) > 1 != listed {
					t.Errorf("%s: %d is for %v", m.Metadata.Name, port, rule.From)
				}
			default:
				if !listed || len(rule.From) != 1 || rule.From[0]["podSelector"].MatchLabels["app"] == "" {
					t.Errorf("%s: %d is for %v", m.Metadata.Name, port, rule.From)
				}
			}
		}
	}
}
