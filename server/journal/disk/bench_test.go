package disk_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// BenchmarkCommit commits batches of reports of 6 bytes, each under an id of 16, from 64
// goroutines. It needs a real disk: TMPDIR names one.
func BenchmarkCommit(b *testing.B) {
	for _, reports := range []int{1, 64, 1024, 4096} {
		b.Run(fmt.Sprintf("reports=%d", reports), func(b *testing.B) {
			j, err := disk.Open(filepath.Join(b.TempDir(), "journal"), disk.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for g := range 64 {
				wg.Go(func() {
					rng := rand.NewChaCha8([32]byte{byte(g)})
					id, value := make([]byte, 16), make([]byte, 6*reports)
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						binary.BigEndian.PutUint64(id, rng.Uint64())
						_, _ = rng.Read(value)
						var batch journal.Batch
						batch.Put(id, value)
						if err := j.Commit(&batch); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)*float64(reports)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}
