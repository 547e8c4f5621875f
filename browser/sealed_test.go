package browser

import (
	"net"
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

// Reports that two tabs have sealed go through a shuffler, and the server opens and counts them.
func TestSealedReportsAreCounted(t *testing.T) {
	at := ports(t, 5) // clients, operator, shuffler's, shuffler, its HTTP
	dir := t.TempDir()
	binary := filepath.Join(dir, "hushgrad")
	inModule(t, "go", "build", "-o", binary, "./cmd/hushgrad")
	run, origin, seen := open(t)
	daemon(t, binary, "serve", "-listen", at[0], "-operator-listen", at[1], "-shuffler-listen", at[2], "-data", filepath.Join(dir, "server"))
	answering(t, at[2])
	daemon(t, binary, "shuffle", "-name", "127.0.0.1", "-listen", at[3], "-upstream", at[2], "-http", at[4], "-http-origin", origin, "-floor", "2", "-data", filepath.Join(dir, "shuffler"))
	inModule(t, binary, "round", "-server", at[1], "-id", "r", "-dim", "4", "-epsilon", "2", "-min-reports", "2", "-target-reports", "2", "-param", "sparsity=2", "-shuffler", "127.0.0.1")
	answering(t, at[4])
	said := run(`
		const client = new web.Client("http://` + at[4] + `", { policy: { maxEpsilon: 2 } });
		const sizes = [];
		for (let i = 0; i < 2; i++) {
			const tab = await client.join("r");
			sizes.push(tab.encode(new Float64Array([0.5, 0, 0, 0])).length === tab.reportBytes && tab.sealed);
			sizes.push(JSON.stringify(await client.submit(tab)));
			if (i === 0) sizes.push(JSON.stringify(await client.submit(tab))); // again, as after a lost answer
		}
		return sizes.join(" ");`)
	if want := `true {"accepted":1,"duplicates":0} {"accepted":0,"duplicates":1} true {"accepted":1,"duplicates":0}`; said != want {
		t.Errorf("the tabs say %s, want %s", said, want)
	}
	if text := inModule(t, binary, "aggregate", "-server", at[1], "-round", "r", "-out", filepath.Join(dir, "results")); !strings.Contains(text, "2 reports") {
		t.Errorf("the server says %s", text)
	}
	seen.check(t, 1000, 4000)
}
