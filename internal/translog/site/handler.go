package site

import (
	"io"
	"net/http"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// CosignPath is where a witness sends what it has signed, below the log's URL.
const CosignPath = "cosigned"

// Handler answers HTTP below the log's URL with its files. Nothing else in the folder can be read.
// Whoever sends a checkpoint with a signature of a witness to CosignPath adds it.
func Handler(l *translog.Log) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		path := r.URL.Path
		file, ok := l.File(path)
		switch {
		case path == CosignPath && r.Method == http.MethodPost:
			cosign(l, w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, fl.Invalid("method", r.Method, "must be GET").Error(), http.StatusMethodNotAllowed)
			return
		case !ok:
			http.NotFound(w, r)
			return
		case path == translog.CheckpointPath:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-cache")
		default:
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Cache-Control", "public, max-age=604800, immutable")
		}
		http.ServeFile(w, r, file)
	})
}

// cosign takes the checkpoint in a request.
func cosign(l *translog.Log, w http.ResponseWriter, r *http.Request) {
	signed, err := io.ReadAll(http.MaxBytesReader(w, r.Body, translog.MaxCheckpointBytes))
	if err == nil {
		err = l.Cosign(signed)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
