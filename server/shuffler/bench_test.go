package shuffler

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// benchParty is a shuffler on disk that has begun a round.
func benchParty(b *testing.B, server *recorder) (*party, *sealedRound, *round) {
	b.Helper()
	dir := b.TempDir()
	kept, err := disk.Open(filepath.Join(dir, "journal"), disk.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := kept.Close(); err != nil {
			b.Error(err)
		}
	})
	r := newSealedRound(b, nil)
	server.open(r.Round)
	p := start(b, Config{Journal: kept, Secrets: filepath.Join(dir, "secrets")}, server)
	p.keeps(b, r, 1, 0, r.items(b, 1)...)
	return p, r, p.known("r")
}

// madeUp returns n reports that nobody can open: the shuffler does not notice.
func madeUp(r *sealedRound, n int) []byte {
	message := make([]byte, n*r.format.Item())
	_, _ = rand.Read(message)
	return message
}

// Keeping the reports of many callers, durably. One operation is one report.
func BenchmarkKeep(b *testing.B) {
	for _, batch := range []int{1, 64, 1024} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			_, r, kept := benchParty(b, newRecorder())
			b.SetParallelism(32) // times GOMAXPROCS
			var done atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if i%batch > 0 {
						continue
					}
					if _, err := kept.submit(b.Context(), madeUp(r, batch), nil); err != nil {
						b.Error(err)
					}
					done.Add(int64(batch))
				}
			})
			b.ReportMetric(float64(done.Load())/b.Elapsed().Seconds(), "reports/s")
		})
	}
}

// Putting the reports of a round into order, decrypting and sending them to a server that does
// nothing with them. One operation is a round.
func BenchmarkForward(b *testing.B) {
	const n = 200_000
	server := newRecorder()
	server.refuse = func(int) error { return status.Error(codes.Unavailable, "away") }
	p, r, kept := benchParty(b, server)
	for range n / 4000 {
		if _, err := kept.submit(b.Context(), madeUp(r, 4000), nil); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now()
	server.with(func() { server.refuse = nil })
	server.close("r")
	eventually(b, "the end", func() bool { return p.known("r") == nil })
	b.ReportMetric(n/time.Since(start).Seconds(), "reports/s")
	b.ReportMetric(0, "ns/op")
}
