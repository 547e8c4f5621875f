package browser

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// daemon runs a command of hushgrad until the test ends.
func daemon(t *testing.T, binary string, args ...string) {
	t.Helper()
	var said strings.Builder
	run := exec.CommandContext(t.Context(), binary, args...)
	run.Stderr = &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context kills it
		if err := run.Wait(); err != nil && t.Failed() {
			t.Logf("%s: %v\n%s", args[0], err, &said)
		}
	})
}

// ports returns free addresses of this machine.
func ports(t *testing.T, n int) (out []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out
}

// answering waits until somebody listens at an address.
func answering(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return
		}
	}
	t.Fatalf("nobody answers at %s", address)
}

// Reports that two tabs have sealed go through a shuffler, and the server opens and counts them: in a round
// that asks for no tokens, and in one that asks for them. docs/http.md says what each party sees.
func TestSealedReportsAreCounted(t *testing.T) {
	at := ports(t, 9) // clients, operator, shuffler's, HTTP; shuffler, its HTTP; issuer, its operator, its HTTP
	dir := t.TempDir()
	binary := filepath.Join(dir, "hushgrad")
	inModule(t, "go", "build", "-o", binary, "./cmd/hushgrad")
	cert, key, trusted := certificate(t, dir)
	run, origin, seen := open(t, trusted)
	daemon(t, binary, "serve", "--listen", at[0], "--operator-listen", at[1], "--shuffler-listen", at[2], "--http", at[3], "--http-origin", origin, "--data", filepath.Join(dir, "server"))
	secrets, bearers := admitted(t, binary, dir, "anna", "bert")
	daemon(t, binary, "issue", "--listen", at[6], "--operator-listen", at[7], "--http", at[8], "--http-origin", origin, "--tls-cert", cert, "--tls-key", key, "--bearer-file", bearers, "--data", filepath.Join(dir, "issuer"))
	answering(t, at[2])
	daemon(t, binary, "shuffle", "--name", "127.0.0.1", "--listen", at[4], "--upstream", at[2], "--http", at[5], "--http-origin", origin, "--floor", "2", "--data", filepath.Join(dir, "shuffler"))
	opened := func(id string, more ...string) {
		inModule(t, binary, append([]string{"round", "--server", at[1], "--id", id, "--dim", "4", "--epsilon", "2", "--min-reports", "2", "--target-reports", "2", "--param", "sparsity=2"}, more...)...)
	}
	counted := func(id string) { // once the round is closed
		if text := inModule(t, binary, "aggregate", "--wait", "--server", at[1], "--round", id, "--out", filepath.Join(dir, "results of "+id)); !strings.Contains(text, "2 reports") {
			t.Errorf("%s: the server says %s", id, text)
		}
	}
	opened("r", "--shuffler", "127.0.0.1")
	answering(t, at[5])
	said := run(`
		const client = new web.Client("http://` + at[5] + `", { policy: { maxEpsilon: 2 } });
		const sizes = [];
		for (let i = 0; i < 2; i++) {
			const tab = await client.join("r");
			sizes.push(tab.encode(new Float64Array([0.5, 0, 0, 0])).length === tab.reportBytes && tab.sealed);
			sizes.push(JSON.stringify(await client.submit(tab)));
			if (i === 0) sizes.push(JSON.stringify(await client.submit(tab))); // again, as after a lost answer
		}
		return sizes.join(" ");`)
	if want := `true {"accepted":1,"duplicates":0} {"accepted":0,"duplicates":1} true {"accepted":1,"duplicates":0}`; said != want {
		t.Fatalf("the tabs say %s, want %s", said, want)
	}
	counted("r")

	answering(t, at[7])
	issuerKey := func(id string) string {
		file := filepath.Join(dir, id+".pem")
		if err := os.WriteFile(file, []byte(inModule(t, binary, "issue", "key", "--server", at[7], "--tls-ca", cert, "--id", id)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	opened("sealed", "--shuffler", "127.0.0.1", "--issuer-key", issuerKey("sealed"))
	opened("direct", "--issuer-key", issuerKey("direct"))
	answering(t, at[8])
	_ = seen.requests() // what follows is another matter
	for id, web := range map[string]string{"sealed": at[5], "direct": at[3]} {
		said := run(fmt.Sprintf(`
			const said = [];
			try {
				await new web.Client("http://%[1]s", { policy: { maxEpsilon: 2 } }).join("%[2]s");
			} catch (error) {
				said.push(error.param);
			}
			for (const secret of %[3]s) {
				const client = new web.Client("http://%[1]s", { policy: { maxEpsilon: 2 }, issuer: { url: "https://%[4]s", secret } });
				const tab = await client.join("%[2]s");
				for (let i = 0; i < 2; i++) await client.fetchToken(tab); // the second time it is there
				said.push(tab.asksForToken && tab.hasToken && tab.encode(new Float64Array([0.5, 0, 0, 0])).length === tab.reportBytes);
				said.push(JSON.stringify(await client.submit(tab)));
				if (said.length === 3) said.push(JSON.stringify(await client.submit(tab))); // again, as after a lost answer
			}
			return said.join(" ");`, web, id, secrets, at[8]))
		if want := `issuer true {"accepted":1,"duplicates":0} {"accepted":0,"duplicates":1} true {"accepted":1,"duplicates":0}`; said != want {
			t.Errorf("%s: the tabs say %s, want %s", id, said, want)
			continue
		}
		counted(id)
	}
	apart(t, seen.requests(), parties{issuer: "https://" + at[8], shuffler: "http://" + at[5], server: "http://" + at[3], secrets: secrets})
	seen.check(t, 1000, 4000)
}
