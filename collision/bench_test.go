package collision

import (
	"testing"

	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

func BenchmarkDecode(b *testing.B) { sparsetest.BenchmarkDecode(b, Name) }
