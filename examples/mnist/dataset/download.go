package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// A file is one published file of MNIST and the SHA-256 of its bytes.
type file struct{ name, sha256 string }

// mnist knows where MNIST can be found.
type mnist struct {
	files    [4]file // train images, train labels, test images, test labels
	mirrors  []string
	cacheDir string // no cache when empty
	client   *http.Client
	timeout  time.Duration // for all files together
	maxBytes int64         // for one file
}

// publicMNIST describes the data set as published. The digests were computed
// from the gzip files that have the MD5 sums known from torchvision
// (f68b3c2d..., d53e105e..., 9fb629c4..., ec29112d...) and are those recorded
// for both mirrors. A mirror that does not answer within three seconds is
// passed over, so that a dead one leaves time for the next.
func publicMNIST() *mnist {
	m := &mnist{
		files: [4]file{
			{"train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
			{"train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
			{"t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
			{"t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
		},
		mirrors: []string{
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
		},
		client: &http.Client{Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
			TLSHandshakeTimeout:   3 * time.Second,
			ResponseHeaderTimeout: 3 * time.Second,
			ForceAttemptHTTP2:     true,
		}},
		timeout:  2 * time.Minute,
		maxBytes: 16 << 20,
	}
	if dir, err := os.UserCacheDir(); err == nil {
		m.cacheDir = filepath.Join(dir, "hushgrad", "mnist")
	}
	return m
}

// fetch returns the content of the four files, each with the right digest, and
// one line that says where they were. Files that are not in the cache are
// downloaded, and put there if possible. A mirror that fails once is not asked
// again.
func (m *mnist) fetch(ctx context.Context, logf func(string, ...any)) (content [4][]byte, origin string, err error) {
	var missing []int
	for i, f := range m.files {
		if content[i] = m.cached(f); content[i] == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return content, "MNIST from the cache in " + m.cacheDir, nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	defer m.client.CloseIdleConnections()
	var used, reasons []string
	for _, mirror := range m.mirrors {
		for len(missing) > 0 && ctx.Err() == nil {
			f := m.files[missing[0]]
			logf("downloading %s%s", mirror, f.name)
			b, err := m.get(ctx, mirror, f)
			if err != nil {
				reasons = append(reasons, err.Error())
				break
			}
			if err := m.store(f, b); err != nil {
				logf("%s is not kept for the next time: %v", f.name, err)
			}
			content[missing[0]], missing = b, missing[1:]
			if !slices.Contains(used, mirror) {
				used = append(used, mirror)
			}
		}
	}
	if len(missing) > 0 {
		// One line, whatever mirrors and proxies say. It wraps nothing: a failure of the
		// network is not a wrong call.
		why := strings.Join(strings.Fields(strings.Join(reasons, "; ")), " ")
		return content, "", fmt.Errorf("MNIST could not be downloaded: %s", why)
	}
	return content, "MNIST downloaded from " + strings.Join(used, " and "), nil
}

// cached returns the content of f in the cache, or nil if it is not there whole.
func (m *mnist) cached(f file) []byte {
	if m.cacheDir == "" {
		return nil
	}
	r, err := os.Open(filepath.Join(m.cacheDir, f.name))
	if err != nil {
		return nil
	}
	defer r.Close()
	b, err := m.readVerified(r, f)
	if err != nil {
		return nil
	}
	return b
}

// get downloads f from one mirror.
func (m *mnist) get(ctx context.Context, mirror string, f file) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, mirror+f.name, nil)
	if err != nil {
		return nil, err
	}
	// The digest is of the stored bytes, so nobody may unpack them on the way.
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fl.Invalid(req.URL.String(), resp.Status, "must be status 200")
	}
	b, err := m.readVerified(resp.Body, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.URL, err)
	}
	return b, nil
}

// readVerified reads r to its end, at most m.maxBytes, and checks the digest.
func (m *mnist) readVerified(r io.Reader, f file) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, m.maxBytes+1))
	if err != nil {
		return nil, err
	}
	if n > m.maxBytes {
		return nil, fl.Invalid("size", n, "must be at most %d bytes", m.maxBytes)
	}
	sum := sha256.Sum256(b.Bytes())
	if got := hex.EncodeToString(sum[:]); got != f.sha256 {
		return nil, fl.Invalid("SHA-256", got, "must be %s", f.sha256)
	}
	return b.Bytes(), nil
}

// store puts f into the cache under its name at once and whole: a reader sees
// the old file or the new one.
func (m *mnist) store(f file, content []byte) error {
	if m.cacheDir == "" {
		return errors.New("there is no user cache directory")
	}
	if err := os.MkdirAll(m.cacheDir, 0o755); err != nil {
		return err
	}
	return command.Replace(context.Background(), filepath.Join(m.cacheDir, f.name), func(w io.Writer) error { _, err := w.Write(content); return err })
}
