package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// image is what docs/deploy/Dockerfile makes, as folders.
type image struct {
	root   string // with /hushgrad alone
	volume string // at /data
	user   uint32
	start  []string // the entry point
}

// newImage builds the program by the file's own line, and lays out what the last stage copies.
func newImage(t *testing.T) *image {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployDir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) string {
		found := regexp.MustCompile(`(?m)^` + pattern + `$`).FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("the file has no line %s", pattern)
		}
		return found[1]
	}
	user, err := strconv.Atoi(find(`USER (\d+):\d+`))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	i := &image{root: filepath.Join(dir, "root"), volume: filepath.Join(dir, "data"), user: uint32(user)}
	if err := json.Unmarshal([]byte(find(`ENTRYPOINT (.*)`)), &i.start); err != nil {
		t.Fatal(err)
	}
	find(`(FROM scratch)`)
	find(`(COPY --from=build /out/hushgrad /hushgrad)`)
	build := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(find(`RUN (.*go build .*)`), "/out/hushgrad", filepath.Join(i.root, "hushgrad")))
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(i.volume, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(i.volume, user, user); err != nil {
			t.Fatal(err)
		}
		for at := i.root; at != os.TempDir() && at != "/"; at = filepath.Dir(at) { // which another user has to reach
			if err := os.Chmod(at, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return i
}

// run returns a command that starts the image with arguments, by bubblewrap as a user without rights: the process sees its program, its volume and the
// network, and nothing else of this machine.
func (i *image) run(args ...string) *exec.Cmd {
	wrap := append([]string{"--ro-bind", filepath.Join(i.root, "hushgrad"), "/hushgrad", "--bind", i.volume, "/data", "--unshare-all", "--share-net", "--die-with-parent", "--clearenv", "--chdir", "/"}, i.start...)
	return i.as(exec.Command("bwrap", append(wrap, args...)...))
}

// as has a command run as the image's user where it may, and otherwise as whoever runs the test.
func (i *image) as(c *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: i.user, Gid: i.user}}
	}
	return c
}

// The image runs as a user without rights, from the program and a volume alone, is healthy by its own check, and finds its rounds again when it is started anew.
func TestTheImageRuns(t *testing.T) {
	if !*long {
		t.Skip("it builds the program")
	}
	tool(t, "bwrap")
	i := newImage(t)
	if out, err := i.as(exec.Command("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true")).CombinedOutput(); err != nil {
		t.Skipf("this machine lets no user make namespaces: %s", out)
	}
	clients, operator, metrics := freeAddress(t), freeAddress(t), freeAddress(t)
	up := func() (down func()) {
		server, said := i.run("serve", "--data", "/data", "--listen", clients, "--operator-listen", operator, "--metrics-listen", metrics), &log{}
		server.Stdout, server.Stderr = said, said
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			out, err := i.run("health", "--server", metrics).CombinedOutput() // as HEALTHCHECK
			if err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%v: %s, %s", err, out, said)
			}
		}
		return func() {
			if err := server.Process.Kill(); err != nil { // and with it what it has started
				t.Error(err)
			}
			_ = server.Wait()
		}
	}
	down := up()
	printed(t, "round", "--server", operator, "--id", "kept", "--dim", "4", "--epsilon", "2", "--min-reports", "2", "--param", "sparsity=2")
	printed(t, "encode", "--server", clients, "--round", "kept", "--max-epsilon", "2", writeFile(t, t.TempDir(), "pairs.csv", "anna,1,0.5\nbert,1,0.5\n"))
	down()
	defer up()()
	if text := printed(t, "aggregate", "--server", operator, "--round", "kept", "--close"); !strings.Contains(text, "\n1,") {
		t.Errorf("the estimate: %s", text)
	}
}
