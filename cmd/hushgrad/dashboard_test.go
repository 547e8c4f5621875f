package main

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials/insecure"
)

// shown starts hushgrad serve with a dashboard and returns its URL, what is logged until then, and the
// addresses of run.
func shown(t *testing.T, args ...string) (url, logged string, addresses []string) {
	t.Helper()
	var out log
	addresses = runLogging(t, &out, args...)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		out.mu.Lock()
		text := out.text.String()
		out.mu.Unlock()
		if found := regexp.MustCompile(`msg=dashboard url=(\S+)`).FindStringSubmatch(text); found != nil {
			return found[1], text, addresses
		}
	}
	t.Fatal("there is no dashboard")
	return "", "", nil
}

func TestTheDashboardShowsTheRoundsOfServe(t *testing.T) {
	url, logged, addresses := shown(t, "--dashboard", "127.0.0.1:0")
	if !strings.HasPrefix(url, "http://127.0.0.1:") || strings.Contains(logged, "not limited to this machine") {
		t.Errorf("%s, logged\n%s", url, logged)
	}
	for _, address := range addresses {
		_ = openOn(t, address, insecure.NewCredentials()) // works on one of them
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, text := page(t, http.DefaultClient, url+"state.json"); strings.Contains(text, `"state":"open"`) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("a round is open, and the dashboard says %s", text)
		}
	}
	if code, text := page(t, http.DefaultClient, url); code != http.StatusOK || !strings.Contains(text, "<h2 id=\"open-title\">") {
		t.Errorf("the page: %d %s", code, text)
	}
}

// Where clients take part in turn, the page says what the reports promise that a client has.
func TestTheDashboardShowsHowOftenClientsOfARunReport(t *testing.T) {
	url, _, addresses := shown(t, "--dashboard", "127.0.0.1:0")
	clients, operator := parts(t, addresses)
	train(t, clients, operator)
	printed(t, "run", writePlan(t, "turns", operator, 4, fmt.Sprintf("clients = %d", 2*trainedBy)))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, text := page(t, http.DefaultClient, url+"state.json"); strings.Contains(text, `"fewer":{"reports":2,"planned":true,`) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("a client has two reports, and the dashboard says %s", text)
		}
	}
}

// An address that others reach gets a warning, in the log and on the page.
func TestADashboardForOthersIsWarnedOf(t *testing.T) {
	url, logged, _ := shown(t, "--dashboard", "0.0.0.0:0")
	if !regexp.MustCompile(`level=WARN .*not limited to this machine`).MatchString(logged) {
		t.Errorf("logged\n%s", logged)
	}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	if _, text := page(t, http.DefaultClient, "http://127.0.0.1:"+port+"/state.json"); !strings.Contains(text, `"public":true`) {
		t.Error(text)
	}
}

func TestThereIsNoDashboardUnlessAsked(t *testing.T) {
	var out log
	runLogging(t, &out)
	out.mu.Lock()
	defer out.mu.Unlock()
	if strings.Contains(out.text.String(), "dashboard") {
		t.Error(out.text.String())
	}
}
