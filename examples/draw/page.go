package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"
)

//go:embed page
var files embed.FS

// serve answers with the page, and with the package in the directory sdk, until ctx ends.
func serve(ctx context.Context, l net.Listener, sdk, server string) error {
	page, err := fs.Sub(files, "page")
	if err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]string{"server": server})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.Handle("GET /sdk/", http.StripPrefix("/sdk/", http.FileServer(http.Dir(sdk))))
	mux.HandleFunc("GET /settings.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(settings)
	})
	// The page can send nothing to others than the server of the round.
	security := strings.Join([]string{
		"default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'", "img-src 'self' data:",
		"connect-src 'self' " + server, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
	s := &http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 8 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", security)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("Cache-Control", "no-store")
			mux.ServeHTTP(w, r)
		}),
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // nothing is lost
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}
