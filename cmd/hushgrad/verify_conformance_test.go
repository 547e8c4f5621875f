package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/cmd/hushgrad/internal/conformance"
)

// asAdapter is a variable of the environment. If it is set, this binary is an adapter, and its value says which.
const asAdapter = "HUSHGRAD_TEST_ADAPTER"

// adapt answers cases on standard input.
func adapt(mode string) {
	lied := map[string]bool{}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var c conformance.Case
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		a := conformance.Respond(c)
		switch mode {
		case "lies":
			if key := fmt.Sprint(c.Subject, a.Refused != ""); !lied[key] {
				lied[key] = true
				a = lie(c, a)
			}
		case "supports only seeds":
			if c.Subject != conformance.Seed {
				a = conformance.Answer{ID: c.ID, Unsupported: true}
			}
		case "supports nothing":
			a = conformance.Answer{ID: c.ID, Unsupported: true}
		case "ends":
			if c.ID == 3 {
				return
			}
		case "is silent":
			fmt.Fprintln(os.Stderr, os.Getpid())
			_, _ = io.Copy(io.Discard, os.Stdin)
			select {} // goes on without input, too
		case "writes no end of a line":
			for {
				if _, err := os.Stdout.Write(bytes.Repeat([]byte("a"), 1<<16)); err != nil {
					return
				}
			}
		}
		_ = out.Encode(a) // to a closed pipe
	}
}

// lie changes one byte of an answer, and accepts what was to be refused.
func lie(c conformance.Case, a conformance.Answer) conformance.Answer {
	switch {
	case a.Refused != "":
		a.Refused, a.Accepted = "", true
	case len(a.Counts) > 0:
		a.Counts[0] ^= 1
	case a.Accepted:
		a.Accepted = false
	case a.Seed != nil:
		*a.Seed ^= 1
	case len(a.Reports) > 0:
		for i := range c.Reports { // one byte of a report says nothing of the law
			a.Reports[5*i+4] ^= 1
		}
	}
	for _, field := range []conformance.Hex{a.Round, a.PublicKey, a.Plaintext, a.Share, a.Tag} {
		if len(field) > 0 {
			field[len(field)-1] ^= 1
			return a
		}
	}
	if len(a.Digest) > 0 {
		a.Digest[0] ^= 1
	}
	return a
}

// judged runs the command with an adapter, a process of its own, and reads its verdict.
func judged(t *testing.T, mode string, flags ...string) (code int, v conformance.Verdict, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = call(t.Context(), slices.Concat([]string{"verify", "conformance", "-o", "json"}, flags, []string{"--", "env", asAdapter + "=" + mode, os.Args[0]}), &out, &errs)
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v, printed %q and %q", mode, err, out.String(), errs.String())
	}
	return code, v, errs.String()
}

// This program's own adapter conforms, as a process that was started like any other one. The ten cases of encode fail with a
// probability of at most 1e-6, here and in TestALieFailsItsCase.
func TestOurOwnAdapterConforms(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	t.Setenv(asCommand, "1")
	var out, errs bytes.Buffer
	code := call(t.Context(), []string{"verify", "conformance", "--", os.Args[0], "verify", "conformance", "answer"}, &out, &errs)
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%8d       0            0  of %d cases\n", len(cases), len(cases)); code != 0 || !strings.HasSuffix(out.String(), want) || errs.Len() > 0 {
		t.Errorf("exit code %d, printed\n%s\n%s\nwant %q", code, &out, &errs, want)
	}
}

// A lie fails the case that it is about, in every subject, and no other one.
func TestALieFailsItsCase(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	lied := map[string]bool{}
	for _, c := range cases {
		if key := fmt.Sprint(c.Subject, c.Want != nil && c.Want.Refused != ""); !lied[key] {
			lied[key] = true
			want = append(want, c.Subject+"/"+c.Name)
		}
	}
	code, v, stderr := judged(t, "lies")
	var got []string
	for _, f := range v.Failures {
		got = append(got, f.Case)
		if f.Got == "" || f.Want == "" || f.Where == "" {
			t.Errorf("%+v", f)
		}
	}
	if code != 1 || v.Failed != len(want) || v.Passed != len(cases)-len(want) || !slices.Equal(got, want) || !strings.Contains(stderr, fmt.Sprintf("%d of %d cases failed", len(want), len(cases))) {
		t.Errorf("exit code %d, %+v, %q\ngot  %q\nwant %q", code, v, stderr, got, want)
	}
}

// What an adapter does not support is counted. If it supports nothing, nothing is proved.
func TestUnsupportedCasesAreCounted(t *testing.T) {
	if code, v, _ := judged(t, "supports only seeds"); code != 0 || v.Passed != 2 || v.Unsupported != v.Cases-2 || v.Failed != 0 {
		t.Errorf("exit code %d, %+v", code, v)
	}
	if code, v, stderr := judged(t, "supports nothing"); code != 1 || v.Unsupported != v.Cases || !strings.Contains(stderr, "no case passed") {
		t.Errorf("exit code %d, %+v, %q", code, v, stderr)
	}
}

// An adapter that does not answer fails the case, and the other cases are not asked.
func TestAnAdapterThatDoesNotAnswerFails(t *testing.T) {
	t.Parallel() // it mostly waits
	for mode, c := range map[string]struct {
		passed int
		ended  string
	}{
		"ends": {2, "the adapter ended"}, "is silent": {0, "it took more than 300ms"}, "writes no end of a line": {0, "its line has more than 1048576 bytes"},
	} {
		flags := []string{}
		if mode == "is silent" {
			flags = append(flags, "--case-time", "300ms")
		}
		code, v, _ := judged(t, mode, flags...)
		if code != 1 || v.Passed != c.passed || v.Failed != 1 || v.NotAsked != v.Cases-c.passed-1 || !strings.HasPrefix(v.Ended, c.ended) {
			t.Errorf("%s: exit code %d, %+v", mode, code, v)
		}
	}
}

// The vectors are the cases.
func TestVectorsAreWritten(t *testing.T) {
	var out, errs, want bytes.Buffer
	if err := conformance.WriteVectors(&want); err != nil {
		t.Fatal(err)
	}
	if code := call(t.Context(), []string{"verify", "conformance", "vectors"}, &out, &errs); code != 0 || out.String() != want.String() || bytes.Count(out.Bytes(), []byte("\n")) < 100 {
		t.Errorf("exit code %d, %d bytes, %q", code, out.Len(), errs.String())
	}
}
