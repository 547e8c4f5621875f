package server

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// A server whose disk is full refuses reports, acknowledges none of them, keeps those from
// before, and goes on by itself when there is room.
func TestAServerWithAFullDiskRefusesAndResumes(t *testing.T) {
	t.Parallel() // it mostly waits
	place := t.TempDir()
	if err := syscall.Mount("tmpfs", place, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("only root can mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(place, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(place, "data")
	p := startProcess(t, dir, "127.0.0.1:0")
	const most = 4000
	load := newLoad(t, p, most)
	const before = 500
	for i := range int64(before) {
		load.send(t.Context(), i)
	}

	fill(t, filepath.Join(place, "filler"))
	refused := 0
	for i := int64(0); before+i < most && refused < 200; i++ { // some still fit into what is reserved
		_, err := load.once(t.Context(), before+i)
		if code := status.Code(err); code == codes.ResourceExhausted {
			refused++
		} else if err != nil {
			t.Fatalf("report %d: %v, want RESOURCE_EXHAUSTED", i, err)
		}
	}
	if refused < 200 {
		t.Errorf("%d of %d reports were refused by a full disk", refused, most)
	}
	if _, err := load.once(t.Context(), 0); err != nil && status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a report from before: %v", err)
	}

	if err := os.Remove(filepath.Join(place, "filler")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := int64(before); i < most; i++ {
		load.send(ctx, i)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("the server ended with %v\n%s", err, &p.log)
	}
	kept, err := disk.Open(dir, disk.Options{MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	got := call(t, kept, smallRound())
	if n := got.round.head().reports; n != most || !bytes.Equal(got.counted(), load.sum(t)) {
		t.Errorf("%d reports counted, %d acknowledged", n, most)
	}
	got.Close()
}

// A server whose disk becomes read-only, as systems make a disk that has errors, ends. After that it goes on with what it had.
func TestAServerWithAReadOnlyDiskEnds(t *testing.T) {
	if !outage.Possible() {
		t.Skip("bench/powercut has the disk")
	}
	place := outage.Disk(t, "read-only")
	p := startProcess(t, filepath.Join(place, "data"), "127.0.0.1:0")
	load := newLoad(t, p, 100)
	for i := range int64(50) {
		load.send(t.Context(), i)
	}
	outage.Tell(t, "freeze", place)
	if _, err := load.once(t.Context(), 50); status.Code(err) != codes.Unavailable {
		t.Errorf("a report for a read-only disk: %v", err)
	}
	if err := p.cmd.Wait(); err == nil || !strings.Contains(p.log.String(), "read-only file system") {
		t.Errorf("the server ended with %v\n%s", err, &p.log)
	}
	outage.Tell(t, "thaw", place)
	startProcess(t, filepath.Join(place, "data"), p.address)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range int64(100) {
		load.send(ctx, i)
	}
	if n := load.duplicates.Load(); n != 50 {
		t.Errorf("%d reports from before are known, want 50", n)
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
