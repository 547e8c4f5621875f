package structure

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "run the commands and the programs of the pages")

// isolate keeps what a page does in namespaces of its own: no process stays behind, ports are nobody
// else's, and what is written to the module or below HOME goes to memory. $layer is an empty folder.
const isolate = `set -euo pipefail
mount --make-rprivate /
mount -t tmpfs tmpfs "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/home"
export HOME="$layer/home"
mount -t overlay -o "lowerdir=$PWD,upperdir=$layer/upper,workdir=$layer/work" overlay "$PWD"
cd "$PWD"
ip link set lo up 2>/dev/null || ifconfig lo up
`

// before has what a page takes for granted.
var before = map[string]string{
	// The accounts and files of a machine.
	"docs/deploy.md": `
cp "$(which hushgrad)" hushgrad
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
copy=$(mktemp -d)
cp -a /etc/. "$copy"
for place in /etc /home /root /var/lib /var/log /usr/local/bin; do mount -t tmpfs -o mode=755 tmpfs $place; done
cp -a "$copy/." /etc
rm -r "$copy"
`,
	// A dictionary, and the pairs of clients.
	"docs/shell.md": `
seq -f 'key%g' 5000 > keys.txt
for i in $(seq 300); do echo "c$i,key$((i % 7 + 1)),0.5"; done > clients.csv
echo anna,key1,1 > anna.csv
`,
}

// script returns the shell program of a page, or "" if the page has none.
func script(text string) string {
	out := ""
	for _, b := range fenced.FindAllStringSubmatch(text, -1) {
		above, language, code := b[1], b[2], b[3]
		if language != "sh" || runBy.MatchString(above) || notRun.MatchString(above) {
			continue
		}
		if m := serves.FindStringSubmatch(above); m != nil {
			host, port, _ := strings.Cut(m[1], ":")
			code = fmt.Sprintf("{ %s} & served=$!\nfor try in $(seq 300); do (: > /dev/tcp/%s/%s) 2>/dev/null && break; sleep 0.1; done\nkill -0 $served\n", code, host, port)
		}
		out += "PS4='+ '; set -x\n" + code + "{ set +x; } 2>/dev/null\n"
	}
	return out
}

// A reader types the commands of a page in their order.
func TestPagesWorkFromTopToBottom(t *testing.T) {
	if !*long {
		t.Skip("runs with -long")
	}
	if os.Getuid() != 0 {
		t.Skip("makes namespaces, and docs/deploy.md is for root")
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, modules, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	unshare := func(ctx context.Context, script string) *exec.Cmd {
		c := exec.CommandContext(ctx, "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", isolate+script)
		c.Dir, c.WaitDelay = module, 10*time.Second
		c.Env = append(os.Environ(), "layer="+t.TempDir(), "GOPROXY=off", "GOCACHE="+cache, "GOMODCACHE="+modules)
		return c
	}
	if out, err := unshare(t.Context(), "").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v: %s", err, out)
	}
	bin := t.TempDir()
	for name, of := range map[string]string{"hushgrad": "./cmd/hushgrad", "hushgrad-demo": "./examples/mnist"} {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, name), of)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	found, run := pages(t), 0
	for _, page := range slices.Sorted(maps.Keys(found)) {
		commands := script(found[page])
		if commands == "" || page != "README.md" && !strings.HasPrefix(page, "docs/") {
			continue
		}
		run++
		t.Run(page, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			out, err := unshare(ctx, before[page]+commands+"echo the end of the page\n").CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), "the end of the page\n") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
	if run < 5 {
		t.Errorf("%d pages have commands", run)
	}
}
