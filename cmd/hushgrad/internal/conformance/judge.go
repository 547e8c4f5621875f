package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/progress"
)

// Options say how an adapter runs.
type Options struct {
	// Time is the longest that one answer may take.
	Time time.Duration
	// Stderr gets what the adapter writes to its standard error.
	Stderr io.Writer
	// Progress shows how many cases were asked. It may be nil.
	Progress *progress.Bar
}

// Verdict says how an adapter answered.
type Verdict struct {
	Cases       int `json:"cases"`
	Passed      int `json:"passed"`
	Failed      int `json:"failed"`
	Unsupported int `json:"unsupported"`
	// NotAsked is the number of cases after the adapter had ended.
	NotAsked int       `json:"not_asked"`
	Subjects []Tally   `json:"subjects"`
	Failures []Failure `json:"failures"`
	// Ended says why the adapter was asked no more before the last case, or is "".
	Ended string `json:"ended"`
}

// Tally counts the cases of one subject.
type Tally struct {
	Subject     string `json:"subject"`
	Passed      int    `json:"passed"`
	Failed      int    `json:"failed"`
	Unsupported int    `json:"unsupported"`
}

// Failure is a case with a wrong answer.
type Failure struct {
	Case  string `json:"case"`
	Got   string `json:"got"`
	Want  string `json:"want"`
	Where string `json:"where"`
}

// Judge starts an adapter, asks it all cases, one after the other, and ends it. The error is ctx's, or a
// *fl.ParamError for a command that cannot be started.
func Judge(ctx context.Context, argv []string, o Options) (v Verdict, err error) {
	cases, err := Cases()
	if err != nil {
		return v, err
	}
	a, err := start(ctx, argv, o)
	if err != nil {
		return v, err
	}
	defer a.close()
	v.Cases, v.Failures = len(cases), []Failure{}
	o.Progress.Grow(len(cases))
	for i, c := range cases {
		line, err := a.ask(ctx, c)
		if err != nil {
			a.close() // an interrupt at the terminal reaches the adapter, too
			if ctx.Err() != nil {
				return v, context.Cause(ctx)
			}
			v.NotAsked = len(cases) - i - 1
			v.Ended = err.Error()
			v.count(c, &Failure{Got: "no answer: " + v.Ended})
			return v, nil
		}
		answer, wrong, err := judge(c, line)
		if err != nil {
			return v, err
		}
		if answer.Unsupported && wrong == nil {
			v.unsupported(c)
		} else {
			v.count(c, wrong)
		}
		o.Progress.Step()
	}
	return v, nil
}

// tally returns the counts of a case's subject. Cases of one subject follow each other.
func (v *Verdict) tally(c Case) *Tally {
	if n := len(v.Subjects); n == 0 || v.Subjects[n-1].Subject != c.Subject {
		v.Subjects = append(v.Subjects, Tally{Subject: c.Subject})
	}
	return &v.Subjects[len(v.Subjects)-1]
}

func (v *Verdict) unsupported(c Case) {
	v.Unsupported++
	v.tally(c).Unsupported++
}

// count counts a case that passed, or failed.
func (v *Verdict) count(c Case, wrong *Failure) {
	if wrong == nil {
		v.Passed++
		v.tally(c).Passed++
		return
	}
	v.Failed++
	v.tally(c).Failed++
	wrong.Case, wrong.Where = c.Subject+"/"+c.Name, c.Where
	if wrong.Want == "" {
		wrong.Want = wanted(c)
	}
	v.Failures = append(v.Failures, *wrong)
}

// wanted says what is right.
func wanted(c Case) string {
	switch {
	case c.Want == nil:
		return fmt.Sprintf("%d reports with the right probabilities", c.Reports)
	case c.Want.Refused != "":
		return "refused"
	}
	return shown(*c.Want)
}

// plain returns what an answer says as JSON, without its id. JSON escapes what a terminal would obey.
func plain(a Answer) string {
	a.ID = 0
	text, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// shown returns what an answer says for a message.
func shown(a Answer) string {
	const most = 300
	text := plain(a)
	if len(text) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
	}
	return text
}

// judge compares an answer with what is right. It returns what is wrong, or nil.
func judge(c Case, line []byte) (a Answer, wrong *Failure, err error) {
	if err := strictly(line, &a); err != nil {
		return a, &Failure{Got: fmt.Sprintf("%.200q, which is no answer: %.200q", line, err)}, nil
	}
	switch {
	case a.ID != c.ID:
		return a, &Failure{Got: fmt.Sprintf("an answer with the id %d", a.ID), Want: fmt.Sprintf("the id %d", c.ID)}, nil
	case a.Unsupported:
		return a, nil, nil
	case c.Want == nil && a.Refused == "":
		text, err := wrongReports(c, a.Reports)
		if err != nil || text == "" {
			return a, nil, err
		}
		return a, &Failure{Got: text}, nil
	case c.Want != nil && (a.Refused != "") == (c.Want.Refused != ""):
		if a.Refused != "" || plain(a) == plain(*c.Want) {
			return a, nil, nil
		}
	}
	return a, &Failure{Got: shown(a)}, nil
}

// adapter is a process that answers.
type adapter struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	lines   *bufio.Reader
	time    time.Duration
	end     context.CancelFunc
}

// start starts an adapter. It ends when ctx does.
func start(ctx context.Context, argv []string, o Options) (*adapter, error) {
	ctx, end := context.WithCancel(ctx)
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stderr, c.WaitDelay = o.Stderr, time.Second // a child of the adapter may keep its pipes
	a := &adapter{command: c, time: o.Time, end: end}
	var err error
	if a.in, err = c.StdinPipe(); err == nil {
		if a.out, err = c.StdoutPipe(); err == nil {
			err = c.Start()
		}
	}
	if err != nil {
		end()
		return nil, fl.Invalid("command", argv[0], "must be a program that can be started: %v", err)
	}
	a.lines = bufio.NewReaderSize(a.out, maxLine)
	return a, nil
}

// errTime is the cause of a case that took too long.
var errTime = errors.New("time")

// ask sends a case and returns the line that the adapter answers, which is good until the next case.
func (a *adapter) ask(ctx context.Context, c Case) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, a.time, errTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _, _ = a.in.Close(), a.out.Close() })() // which ends what waits below
	c.Want, c.Law, c.Where = nil, nil, ""
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var line []byte
	if _, err = a.in.Write(append(text, '\n')); err == nil {
		line, err = a.lines.ReadSlice('\n')
	}
	switch {
	case err == nil:
		return bytes.TrimSuffix(line, []byte("\n")), nil
	case context.Cause(ctx) == errTime:
		return nil, fmt.Errorf("it took more than %s", a.time)
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("its line has more than %d bytes", maxLine)
	}
	return nil, errors.New("the adapter ended, or closed its standard output")
}

// close ends the adapter: a good one ends by itself when its input does.
func (a *adapter) close() {
	_ = a.in.Close()
	kill := time.AfterFunc(time.Second, a.end)
	defer kill.Stop()
	_ = a.command.Wait() // its answers say how good it is, and not its exit code
	a.end()
}
