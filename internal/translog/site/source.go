package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// Open returns the files of a log in a folder or behind a URL. name is the parameter's in errors.
func Open(name, place string) (translog.Source, error) {
	if place == "" {
		return nil, fl.Invalid(name, place, "must be the log's folder or its URL, such as https://example.org:7125/log/")
	}
	if !strings.Contains(place, "://") {
		return translog.Folder(place), nil
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

// Read implements translog.Source.
func (w *web) Read(ctx context.Context, path string, limit int64) (data []byte, err error) {
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
	return at.Read(ctx, path, limit)
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
		data, err = translog.Bounded(at, resp.Body, limit)
		return data, errors.Is(err, io.ErrUnexpectedEOF), err
	case http.StatusNotFound:
		return nil, false, fmt.Errorf("%s: %w", at, fs.ErrNotExist)
	}
	return nil, resp.StatusCode >= http.StatusInternalServerError, fmt.Errorf("%s: the answer is %s", at, resp.Status)
}

// Send gives a cosigned checkpoint to the server of the log, which must be behind HTTP. name is the parameter's in errors.
func Send(ctx context.Context, name string, source translog.Source, cosigned []byte) error {
	at, ok := source.(*web)
	if !ok {
		return fl.Invalid(name, "a folder", "must be the URL of the server, which takes the signature")
	}
	url := at.base.JoinPath(CosignPath).String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(cosigned))
	if err != nil {
		return err
	}
	resp, err := at.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	why, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // what there is
	return fmt.Errorf("%s: the answer is %s: %q", url, resp.Status, why)
}
