package server_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// readOnly is a journal whose disk can become read-only.
type readOnly struct {
	journal.Journal
	failed atomic.Bool
}

func (r *readOnly) Commit(b *journal.Batch) error {
	if r.failed.Load() {
		return fmt.Errorf("%w: write /var/lib/secret: %w", journal.ErrFailed, fs.ErrPermission)
	}
	return r.Journal.Commit(b)
}

// A server whose journal has failed says no more than that, and ends with the reason: after a restart it may go on.
func TestAServerEndsWhenItsJournalHasFailed(t *testing.T) {
	kept := &readOnly{Journal: journal.NewMemory()}
	s, err := server.New(server.Config{Journal: kept})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), server.Listeners{Clients: l}) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	operator := service.NewOperatorClient(conn)
	opening := &service.OpenRoundRequest{Round: cocoRound("before").Proto()}
	if _, err := operator.OpenRound(t.Context(), opening); err != nil {
		t.Fatal(err)
	}
	kept.failed.Store(true)
	opening.Round.Id = "after"
	_, err = operator.OpenRound(t.Context(), opening)
	wantCode(t, "a round that cannot be kept", err, codes.Unavailable)
	if text := status.Convert(err).Message(); strings.Contains(text, "secret") {
		t.Errorf("the caller learns where the file is: %s", text)
	}
	select {
	case err := <-served:
		if !errors.Is(err, journal.ErrFailed) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server serves on")
	}
}

// An operator aborts a round while the disk is full: that frees what the round has kept.
func TestARoundIsAbortedOnAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	on := func(minFree int64) (*peers, *disk.Journal) {
		kept, err := disk.Open(dir, disk.Options{MinFree: minFree})
		if err != nil {
			t.Fatal(err)
		}
		return start(t, server.Config{Journal: kept}), kept
	}
	p, kept := on(1)
	r := open(t, p, cocoRound("r"))
	reports := encode(t, join(t, p, "r"), 5)
	if _, err := submit(t, p, request(t, r, 1, reports[:4]...)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.close(), kept.Close()); err != nil {
		t.Fatal(err)
	}

	p, kept = on(1 << 62) // more than any disk has free
	_, err := submit(t, p, request(t, r, 2, reports[4:]...))
	wantCode(t, "a report for a full disk", err, codes.ResourceExhausted)
	if err := p.operator.AbortRound(t.Context(), "r"); err != nil {
		t.Errorf("the round cannot be aborted: %v", err)
	}
	if left := dump(t, kept, "server/round/"); len(left) > 0 {
		t.Errorf("%d keys of the round are left", len(left))
	}
	if err := errors.Join(p.close(), kept.Close()); err != nil {
		t.Fatal(err)
	}
}
