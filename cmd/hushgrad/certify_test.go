//go:build unix

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// madeFiles are what hushgrad certify --clients alice,bob makes, with their modes.
var madeFiles = map[string]fs.FileMode{
	".": 0o755, "ca.pem": 0o644,
	"authority": 0o700, "authority/key.pem": 0o600,
	"serve": 0o750 | fs.ModeSetgid, "serve/ca.pem": 0o644, "serve/cert.pem": 0o644, "serve/key.pem": 0o640,
	"shuffle": 0o750 | fs.ModeSetgid, "shuffle/ca.pem": 0o644, "shuffle/cert.pem": 0o644, "shuffle/key.pem": 0o640,
	"issue": 0o750 | fs.ModeSetgid, "issue/ca.pem": 0o644, "issue/cert.pem": 0o644, "issue/key.pem": 0o640, "issue/bearers": 0o640,
	"operator": 0o700, "operator/ca.pem": 0o644, "operator/cert.pem": 0o644, "operator/key.pem": 0o600,
	"prometheus": 0o700, "prometheus/ca.pem": 0o644, "prometheus/cert.pem": 0o644, "prometheus/key.pem": 0o600,
	"clients": 0o700, "clients/alice": 0o700, "clients/alice/ca.pem": 0o644, "clients/alice/secret": 0o600,
	"clients/bob": 0o700, "clients/bob/ca.pem": 0o644, "clients/bob/secret": 0o600,
}

// contents returns the texts of all files below a directory, by their path in it.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		texts[filepath.ToSlash(name)] = string(text)
		if err == nil {
			err = relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// The files have the modes that keep each party out of the others' keys, whatever the umask.
func TestCertifyWritesFilesWithTheirModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := filepath.Join(t.TempDir(), "made")
	printed(t, "certify", "--clients", "alice,bob", dir)
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(dir, path)
		found[name] = info.Mode() &^ fs.ModeDir
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range madeFiles {
		if got, there := found[name]; !there || got != mode {
			t.Errorf("%s: mode %v, %v, want %v", name, got, there, mode)
		}
	}
	if len(found) != len(madeFiles) {
		t.Errorf("%d files and directories, want %d: %v", len(found), len(madeFiles), found)
	}
}

// The certificates have the names and uses that the files of docs/deploy ask for.
func TestCertifySignsForTheParties(t *testing.T) {
	dir := t.TempDir()
	before := time.Now().Truncate(time.Second)
	printed(t, "certify", "--name", "fl.example,192.0.2.1", "--shuffler", "mixer.example", "--days", "30", dir)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(contents(t, dir)["ca.pem"])) {
		t.Fatal("no authority")
	}
	for _, c := range []struct {
		dir, name string
		dns       []string
		address   bool
		uses      []x509.ExtKeyUsage
	}{
		{"serve", "serve", []string{"fl.example"}, true, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		{"shuffle", "mixer.example", []string{"mixer.example", "fl.example"}, true, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}},
		{"issue", "issue", []string{"fl.example"}, true, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		{"operator", "operator", []string{"operator"}, false, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
		{"prometheus", "prometheus", []string{"prometheus"}, false, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	} {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, c.dir, "cert.pem"), filepath.Join(dir, c.dir, "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		leaf := pair.Leaf
		if leaf.Subject.CommonName != c.name || !slices.Equal(leaf.DNSNames, c.dns) || (len(leaf.IPAddresses) == 1 && leaf.IPAddresses[0].String() == "192.0.2.1") != c.address || !slices.Equal(leaf.ExtKeyUsage, c.uses) {
			t.Errorf("%s: name %q, names %q, addresses %v, uses %v", c.dir, leaf.Subject.CommonName, leaf.DNSNames, leaf.IPAddresses, leaf.ExtKeyUsage)
		}
		if end := before.AddDate(0, 0, 30); leaf.NotAfter.Before(end) || leaf.NotAfter.After(end.Add(time.Minute)) {
			t.Errorf("%s: ends at %v, want %v", c.dir, leaf.NotAfter, end)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: c.uses}); err != nil {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
}

// A call without flags keeps the names, and a call with flags changes them.
func TestCertifyAgainKeepsTheNames(t *testing.T) {
	dir := t.TempDir()
	names := func() string {
		t.Helper()
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "shuffle", "cert.pem"), filepath.Join(dir, "shuffle", "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(pair.Leaf.Subject.CommonName, pair.Leaf.DNSNames, pair.Leaf.IPAddresses)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "shuffler.example[shuffler.example localhost] [127.0.0.1]"},
		{[]string{"--name", "fl.example,192.0.2.1", "--shuffler", "mixer.example"}, "mixer.example[mixer.example fl.example] [192.0.2.1]"},
		{nil, "mixer.example[mixer.example fl.example] [192.0.2.1]"},
		{[]string{"--name", "other.example"}, "mixer.example[mixer.example other.example] []"},
	} {
		printed(t, append(append([]string{"certify"}, c.args...), dir)...)
		if got := names(); got != c.want {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
	}
	writeFile(t, dir, "serve/cert.pem", "")
	if text := refusal(t, "certify", dir); !strings.Contains(text, `--name: got "", rule: is required: serve/cert.pem in `) {
		t.Errorf("a damaged certificate: %q", text)
	}
	printed(t, "certify", "--name", "other.example", dir)
}

// A second call renews certificates, adds clients, and leaves the authority and all secrets alone. A secret that
// its client has taken away is not drawn again.
func TestCertifyAgainRenews(t *testing.T) {
	dir := t.TempDir()
	printed(t, "certify", "--clients", "alice,bob", dir)
	first := contents(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "clients", "bob")); err != nil {
		t.Fatal(err)
	}
	out := printed(t, "certify", "--clients", "alice,bob,carol", dir)
	if !strings.Contains(out, "kept, until") || !strings.Contains(out, "carol: give each") || strings.Contains(out, "alice") {
		t.Errorf("printed %q", out)
	}
	second := contents(t, dir)
	for name, text := range first {
		renewed := !strings.HasPrefix(name, "authority") && (strings.HasSuffix(name, "/cert.pem") || strings.HasSuffix(name, "/key.pem"))
		switch {
		case strings.HasPrefix(name, "clients/bob/"):
			if _, there := second[name]; there {
				t.Errorf("%s is there again", name)
			}
		case name == "issue/bearers":
			if !strings.HasPrefix(second[name], text) || strings.Count(second[name], "\n") != 3 || !strings.Contains(second[name], "\ncarol ") {
				t.Errorf("bearers %q became %q", text, second[name])
			}
		case (second[name] != text) != renewed:
			t.Errorf("%s: changed %v, want %v", name, second[name] != text, renewed)
		}
	}
	if second["clients/carol/secret"] == "" {
		t.Error("the new client has no secret")
	}
	// A client whose line was lost after its secret was written gets the line of that secret.
	bearers := filepath.Join(dir, "issue", "bearers")
	if err := os.WriteFile(bearers, bytes.Replace([]byte(second["issue/bearers"]), []byte("alice "), []byte("# "), 1), 0o640); err != nil {
		t.Fatal(err)
	}
	printed(t, "certify", "--clients", "alice", dir)
	line := first["issue/bearers"][:strings.Index(first["issue/bearers"], "\n")+1]
	if third := contents(t, dir); third["clients/alice/secret"] != first["clients/alice/secret"] || !strings.HasSuffix(third["issue/bearers"], "\n"+line) {
		t.Errorf("alice has %q and the issuer %q, want a line %q", third["clients/alice/secret"], third["issue/bearers"], line)
	}
}

// Renewed files have the group of their directory, which is the role's.
func TestCertifyKeepsTheGroup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("gives files to another group")
	}
	dir, group := t.TempDir(), 65532
	printed(t, "certify", dir)
	if err := os.Chown(filepath.Join(dir, "serve"), -1, group); err != nil {
		t.Fatal(err)
	}
	printed(t, "certify", dir)
	for _, name := range []string{"cert.pem", "key.pem", "ca.pem"} {
		info, err := os.Stat(filepath.Join(dir, "serve", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Gid; int(got) != group {
			t.Errorf("%s: group %d, want %d", name, got, group)
		}
	}
}

// The authority is replaced in three calls, and every party knows both meanwhile.
func TestCertifyReplacesTheAuthority(t *testing.T) {
	dir, next := t.TempDir(), t.TempDir()
	printed(t, "certify", dir)
	printed(t, "certify", next)
	old, other := contents(t, dir), contents(t, next)
	verified := func(step string, wants ...bool) { // by the old one, and by the other
		t.Helper()
		printed(t, "certify", dir)
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "serve", "cert.pem"), filepath.Join(dir, "serve", "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{old["ca.pem"], other["ca.pem"]} {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM([]byte(text))
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots}); (err == nil) != wants[i] {
				t.Errorf("%s, authority %d: %v", step, i, err)
			}
			if has := strings.Contains(contents(t, dir)["operator/ca.pem"], text); has != wants[2+i] {
				t.Errorf("%s: the operator knows authority %d: %v", step, i, has)
			}
		}
	}
	writeFile(t, dir, "ca.pem", old["ca.pem"]+other["ca.pem"])
	verified("both", true, false, true, true)
	writeFile(t, dir, "authority/key.pem", other["authority/key.pem"])
	verified("the other key", false, true, true, true)
	writeFile(t, dir, "ca.pem", other["ca.pem"])
	verified("the other alone", false, true, false, true)
}

// Half of a directory is refused with what to type, and nothing in it changes.
func TestCertifyRefusesHalfOfADirectory(t *testing.T) {
	whole := t.TempDir()
	printed(t, "certify", "--clients", "alice", whole)
	for name, c := range map[string]struct {
		change func(dir string) error
		args   []string
		want   string
	}{
		"no key":         {func(dir string) error { return os.Remove(dir + "/authority/key.pem") }, nil, "must have authority/key.pem, which signs: put it back, or type rm DIR/ca.pem "},
		"no certificate": {func(dir string) error { return os.Remove(dir + "/ca.pem") }, nil, "must have ca.pem: put it back, or type rm DIR/authority/key.pem "},
		"another's key": {func(dir string) error { return os.Rename(dir+"/serve/key.pem", dir+"/authority/key.pem") }, nil,
			"must have ca.pem and authority/key.pem that belong together: no certificate of an authority belongs to the key"},
		"half a file": {func(dir string) error { return os.Truncate(dir+"/ca.pem", 100) }, nil, "must have ca.pem and authority/key.pem that belong together"},
		"a file": {func(dir string) error {
			return errors.Join(os.Rename(dir+"/operator", dir+"/away"), os.Rename(dir+"/away/key.pem", dir+"/operator"))
		}, nil, `DIR: got "DIR/operator", rule: must be a directory: move the file away`},
		"too many days":   {func(string) error { return nil }, []string{"--days", "3651"}, `--days: got 3651, rule: must be in [1, 3650]`},
		"a port":          {func(string) error { return nil }, []string{"--name", "localhost:7117"}, `--name: got "localhost:7117", rule: must be DNS names and IP addresses between commas, without a port`},
		"a path":          {func(string) error { return nil }, []string{"--clients", "../alice"}, `--clients: got "../alice", rule: must be names between commas`},
		"no names":        {func(string) error { return nil }, []string{"--name", ""}, `--name: got "", rule: is required`},
		"a shuffler's IP": {func(string) error { return nil }, []string{"--shuffler", "a b"}, `--shuffler: got "a b", rule: must be a DNS name`},
	} {
		dir := filepath.Join(t.TempDir(), "made")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if err := c.change(dir); err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		want := strings.ReplaceAll(c.want, "DIR/", dir+"/")
		if text := refusal(t, append(append([]string{"certify"}, c.args...), dir)...); !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
		for file, text := range contents(t, dir) {
			if before[file] != text {
				t.Errorf("%s: %s has changed", name, file)
			}
		}
	}
}

// Certificates do not outlive their authority.
func TestCertifyEndsBeforeItsAuthority(t *testing.T) {
	dir, m := t.TempDir(), &certifyFlags{names: []string{"localhost"}, shuffler: "a.example", days: 90}
	now := time.Now()
	if _, err := m.write(t.Context(), dir, now.AddDate(0, 0, 89-authorityDays)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.write(t.Context(), dir, now); err == nil || !strings.Contains(err.Error(), "--days: got 90, rule: must be at most 8") {
		t.Errorf("error %v", err)
	}
	m.days = 80
	if made, err := m.write(t.Context(), dir, now); err != nil || made.Until.After(made.AuthorityUntil) {
		t.Errorf("%+v, %v", made, err)
	}
}
