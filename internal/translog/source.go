package translog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// source is where the files of a log are. The error of a file that is not there wraps fs.ErrNotExist.
type source interface {
	// read returns a file of at most limit bytes.
	read(ctx context.Context, path string, limit int64) ([]byte, error)
}

// newSource returns the source of a URL or a folder. name is the parameter's in errors.
func newSource(name, place string) (source, error) {
	if place == "" {
		return nil, fl.Invalid(name, place, "must be the log's folder or its URL, such as https://example.org:7125/log/")
	}
	if !strings.Contains(place, "://") {
		return folder(place), nil
	}
	return newWeb(name, place, "must be a folder, or a URL with http or https")
}

// newWeb returns the source of a URL.
func newWeb(name, place, rule string) (*web, error) {
	base, err := url.Parse(place)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fl.Invalid(name, place, "%s", rule)
	}
	return &web{base: base, client: &http.Client{Timeout: fetchTimeout}}, nil
}

// urlRule is what Fetch asks of a URL.
const urlRule = "must be a URL with http or https, such as https://example.org:7125"

// CheckURL returns an error for a URL that Fetch refuses. name is the parameter's in errors.
func CheckURL(name, base string) error {
	_, err := newWeb(name, base, urlRule)
	return err
}

// bounded reads at most limit bytes.
func bounded(path string, in io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fl.Invalid(path, fmt.Sprintf("more than %d bytes", limit), "must have at most %d", limit)
	}
	return data, err
}

// folder is a log on a disk.
type folder string

func (d folder) read(_ context.Context, path string, limit int64) ([]byte, error) {
	f, err := os.Open(filepath.Join(string(d), filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f.Name(), f, limit)
}

const (
	fetchTimeout = 30 * time.Second
	// tries is how often a file is asked for while the server does not answer.
	tries = 3
)

// web is a log behind HTTP.
type web struct {
	base   *url.URL
	client *http.Client
}

func (w *web) read(ctx context.Context, path string, limit int64) (data []byte, err error) {
	at := w.base.JoinPath(path).String()
	for try := range tries {
		var again bool
		if data, again, err = w.get(ctx, at, limit); err == nil || !again {
			break
		}
		select {
		case <-time.After(time.Second << try):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return data, err
}

// Fetch returns what is at a path below a URL, of at most limit bytes. It is as patient as a reader of a log.
func Fetch(ctx context.Context, name, base, path string, limit int64) ([]byte, error) {
	at, err := newWeb(name, base, urlRule)
	if err != nil {
		return nil, err
	}
	return at.read(ctx, path, limit)
}

// get reads a URL once. again says whether another try may help.
func (w *web) get(ctx context.Context, at string, limit int64) (data []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, false, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		data, err = bounded(at, resp.Body, limit)
		return data, errors.Is(err, io.ErrUnexpectedEOF), err
	case http.StatusNotFound:
		return nil, false, fmt.Errorf("%s: %w", at, fs.ErrNotExist)
	}
	return nil, resp.StatusCode >= http.StatusInternalServerError, fmt.Errorf("%s: the answer is %s", at, resp.Status)
}
