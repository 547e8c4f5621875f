package collision

import (
	"testing"

	"github.com/hushgrad/hushgrad/internal/mechtest"
)

func BenchmarkDecode(b *testing.B) { mechtest.BenchmarkDecode(b, Name) }
