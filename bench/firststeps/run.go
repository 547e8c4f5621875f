package firststeps

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// What a time ends with.
const (
	untilEnd  = "end"
	untilPage = "page"
)

// address is how a program says where its page is.
var address = regexp.MustCompile(`http://[0-9.:]+/`)

// run runs a command in a directory. It returns the time until it ends. A command that shows a page
// (--dashboard) waits for a reader, so it is the time until the page answers.
func run(ctx context.Context, command, dir string, variables []string) (took time.Duration, until string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir, c.Env, c.WaitDelay = dir, variables, 10*time.Second
	apart(c)
	c.Cancel = func() error { return end(c) }
	begin := time.Now()
	if !strings.Contains(command, "--dashboard") {
		out, err := c.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, tail(out))
		}
		return time.Since(begin), untilEnd, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, "", err
	}
	defer r.Close()
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		return 0, "", errors.Join(err, w.Close())
	}
	if err := w.Close(); err != nil {
		return 0, "", err
	}
	err = answered(ctx, r)
	took = time.Since(begin)
	stop := end(c)
	_, drained := io.Copy(io.Discard, r)
	_ = c.Wait() // it was interrupted
	return took, untilPage, errors.Join(err, stop, drained)
}

// answered reads until a line has the address of a page, and asks for the page.
func answered(ctx context.Context, r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		page := address.FindString(lines.Text())
		if page == "" {
			continue
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", page, answer.Status)
		}
		return errors.Join(err, answer.Body.Close())
	}
	return errors.Join(errors.New("it ended without a page"), lines.Err())
}

// failures finds the lines of go test that name a test, or a package, that failed.
var failures = regexp.MustCompile(`(?m)^\s*(--- FAIL|FAIL\s|panic:|\S+_test\.go:\d+:).*$`)

// tail returns what of an output says why a command failed: its lines about failed tests, and its last bytes.
func tail(out []byte) []byte {
	said := bytes.Join(failures.FindAll(out, 20), []byte("\n"))
	return append(append(said, '\n'), out[max(0, len(out)-2000):]...)
}
