package main

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release for linux/arm64, whose processor rounds products and sums in other ways, conforms. This machine's program judges it
// while QEMU runs it.
func TestAReleaseForARMConforms(t *testing.T) {
	if !*long {
		t.Skip("compiles hushgrad for another processor")
	}
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Skip("needs QEMU: apt-get install qemu-user-static")
	}
	program := filepath.Join(t.TempDir(), "hushgrad")
	if err := os.WriteFile(program, buildRelease(t, filepath.Join("..", ".."), "1.2.3", "GOOS=linux", "GOARCH=arm64"), 0o755); err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(emulator, program, "version").Output()
	if err != nil || !strings.HasPrefix(string(version), "hushgrad 1.2.3\n") {
		t.Errorf("the program says of itself %q, %v", version, err)
	}
	var out, errs strings.Builder
	if code := call(t.Context(), []string{"verify", "conformance", "--", emulator, program, "verify", "conformance", "answer"}, &out, &errs); code != 0 {
		t.Errorf("exit code %d: %s\n%s", code, &out, &errs)
	}
}

// A release for Windows keeps what it has been given: each role and a ledger go on after a kill. Clients and operator are this
// machine's program, but for a client with a ledger.
func TestAReleaseForWindowsLosesNothing(t *testing.T) {
	if !*long {
		t.Skip("compiles hushgrad for another system")
	}
	if _, err := exec.LookPath("wine"); err != nil {
		t.Skip("needs Wine: apt-get install wine wine64")
	}
	dir := t.TempDir()
	writeFile(t, dir, "hushgrad.exe", string(buildRelease(t, filepath.Join("..", ".."), "1.2.3", "GOOS=windows", "GOARCH=amd64")))
	windows := wine(t, dir)
	said := func(args ...string) string {
		t.Helper()
		out, err := windows(args...).Output()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			t.Errorf("%s: %v: %s", args[0], err, failed.Stderr)
		}
		return string(out)
	}
	if got := said("version"); !strings.HasPrefix(got, "hushgrad 1.2.3\n") {
		t.Fatalf("the program says of itself %q", got)
	}
	shufflers, clients, operator, upstream := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	roles := [][]string{
		{"serve", "--data", "serving", "--listen", clients, "--operator-listen", operator, "--shuffler-listen", upstream},
		{"shuffle", "--data", "shuffling", "--name", "shuffler.example", "--floor", "3", "--listen", shufflers, "--upstream", upstream},
	}
	var running []*exec.Cmd
	kill := func() {
		for _, role := range running {
			_ = role.Process.Kill()
			_ = role.Wait()
		}
		running = nil
	}
	start := func() {
		t.Helper()
		for _, args := range roles {
			role := windows(args...)
			if err := role.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, role)
		}
		answers(t, clients, operator, shufflers)
	}
	t.Cleanup(kill)
	start()
	common := []string{"round", "--server", operator, "--mechanism", "collision", "--dim", "3", "--epsilon", "4", "--min-reports", "3", "--param", "sparsity=2"}
	printed(t, append(common, "--id", "plain")...)
	printed(t, append(common, "--id", "sealed", "--shuffler", "shuffler.example")...)
	key, _, _ := strings.Cut(strings.Split(said("serve", "keys", "--data", "serving"), "\n")[1], " ")
	for _, name := range []string{"anna", "bert", "carl"} {
		writeFile(t, dir, name+".csv", name+",1,0.5\n")
		said("encode", "--server", clients, "--round", "plain", "--max-epsilon", "4", "--ledger", name+".ledger", "--budget", "4", name+".csv")
		said("encode", "--server", shufflers, "--round", "sealed", "--max-epsilon", "4", "--max-central-epsilon", "4", "--shuffler", "shuffler.example", "--seal-key", key, name+".csv")
		kill()
		start()
	}
	for _, id := range []string{"plain", "sealed"} {
		if got := printed(t, "aggregate", "--server", operator, "--round", id, "--close"); strings.Count(got, "\n") != 4 {
			t.Errorf("round %s: %q", id, got)
		}
	}
	if got := said("ledger", "show", "anna.ledger"); !strings.Contains(got, "spent     ε = 4 ") || !strings.Contains(got, "acknowledged") {
		t.Errorf("the ledger says %q", got)
	}
	again, err := windows("encode", "--server", clients, "--round", "plain", "--max-epsilon", "4", "--ledger", "anna.ledger", "anna.csv").CombinedOutput()
	if err == nil {
		t.Errorf("a second report in the same round: %s", again)
	}
}

// wine returns what runs hushgrad.exe of a folder, in the folder.
func wine(t *testing.T, dir string) func(args ...string) *exec.Cmd {
	t.Helper()
	prefix := t.TempDir()
	env := append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all")
	in := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	t.Cleanup(func() { _ = in("wineserver", "--kill", "--wait").Run() })
	if out, err := in("wine", "wineboot", "--init").CombinedOutput(); err != nil {
		t.Fatalf("wineboot: %v: %s", err, out)
	}
	// Versions of Wine before 9 lack the function with which Go fills buffers with random bytes. They have it under an older name.
	place := filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(place, forwarder(t, "ProcessPrng", "advapi32.SystemFunction036"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) *exec.Cmd { return in("wine", append([]string{"hushgrad.exe"}, args...)...) }
}

// forwarder returns a library for Windows that has another one's function under a name.
func forwarder(t *testing.T, name, function string) []byte {
	t.Helper()
	const (
		rva, size = 0x1000, 0x200 // of the only section, which lies behind as many bytes of headers
		tables    = 50            // bytes of a directory of exports, and of its tables with one function
	)
	texts := "library\x00" + name + "\x00" + function + "\x00"
	at := func(text string) uint32 { return rva + tables + uint32(strings.Index(texts, text)) }
	directory := pe.OptionalHeader64{
		Magic: 0x20b, ImageBase: 1 << 28, SectionAlignment: rva, FileAlignment: size, MajorSubsystemVersion: 6,
		SizeOfImage: 2 * rva, SizeOfHeaders: size, Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, NumberOfRvaAndSizes: 16,
	}
	directory.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT] = pe.DataDirectory{VirtualAddress: rva, Size: size} // what lies inside is a name, not code
	section := pe.SectionHeader32{VirtualSize: size, VirtualAddress: rva, SizeOfRawData: size, PointerToRawData: size, Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ}
	copy(section.Name[:], ".edata")
	var b bytes.Buffer
	dos := [64]byte{0: 'M', 1: 'Z', 60: 64}
	for _, part := range []any{
		dos, [4]byte{'P', 'E'},
		pe.FileHeader{Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(directory)),
			Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL | pe.IMAGE_FILE_RELOCS_STRIPPED},
		directory, section, [size]byte{},
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	b.Truncate(size)
	for _, part := range []any{
		[3]uint32{}, at("library"), [3]uint32{1, 1, 1}, // the first number, and how many functions and names
		[3]uint32{rva + 40, rva + 44, rva + 48}, at(function), at(name), uint16(0), []byte(texts), [size]byte{},
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	b.Truncate(2 * size)
	return b.Bytes()
}
