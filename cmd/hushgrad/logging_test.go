package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/seal"
)

// A log has the same words in both formats, so that a fingerprint of it can be compared with one that is listed.
func TestLogsHaveTheSameWordsInBothFormats(t *testing.T) {
	fingerprint := seal.FingerprintOf([]byte("key"))
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		(&logging{format: format}).logger(&out).Info("stopping", "timeout", 2*time.Second, "fingerprint", fingerprint)
		if format == "text" {
			if want := []byte("timeout=2s fingerprint=" + fingerprint.String()); !bytes.Contains(out.Bytes(), want) {
				t.Errorf("%s lacks %s", out.Bytes(), want)
			}
			continue
		}
		var line struct{ Timeout, Fingerprint any }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Timeout != "2s" || line.Fingerprint != fingerprint.String() {
			t.Errorf("%s, %v", out.Bytes(), err)
		}
	}
}
