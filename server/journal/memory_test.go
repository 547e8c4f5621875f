package journal_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/server/internal/journaltest"
	"github.com/hushgrad/hushgrad/server/journal"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	journaltest.Run(t, false, func(*testing.T) journal.Journal { return journal.NewMemory() })
}

func TestAfterComesAfterAllKeysWithThePrefix(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "ab": "ac", "\x00": "\x01"} {
		if got := journal.After([]byte(prefix)); string(got) != want {
			t.Errorf("After(%q) = %q, want %q", prefix, got, want)
		}
	}
}
