package ohttp

import (
	"bytes"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func drawKey(t testing.TB) *Key {
	t.Helper()
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A client that has the text of a configuration and a gateway that has the text of its key understand each other.
func TestARequestAndItsResponse(t *testing.T) {
	key := drawKey(t)
	written, err := key.Text()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ParseKeys("key", []string{written + "\n"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := ParseConfig("config", key.Config().Text())
	if err != nil {
		t.Fatal(err)
	}
	if got := keys.Encoded(); len(got) != 2+41 || !bytes.Equal(got[2:], config.Bytes()) || got[1] != 41 {
		t.Errorf("configurations %x", got)
	}
	want := &Request{Method: "POST", Scheme: "https", Authority: "a.test", Path: "/x", Header: http.Header{"Content-Type": {"a/b"}, "X-A": {"1", "2"}}, Content: bytes.Repeat([]byte{7}, 70)}
	sealed, asked, err := config.Seal(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	raw, answer, err := keys.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeRequest(raw); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	wanted := &Response{Status: 404, Header: http.Header{"Content-Type": {"a/b"}}, Content: []byte("no")}
	back, err := answer.Seal(wanted.Encode())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := asked.Open(back)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeResponse(opened); err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("%+v, %v, want %+v", got, err, wanted)
	}
	if _, err := asked.Open(append(bytes.Clone(back[:len(back)-1]), back[len(back)-1]^1)); err == nil {
		t.Error("a changed response was opened")
	}
	if _, other, _ := config.Seal(nil); other != nil {
		if _, err := other.Open(back); err == nil {
			t.Error("the response to one request opens with another")
		}
	}
}

// While a key is replaced the gateway opens requests to either, and publishes both.
func TestAKeyIsReplaced(t *testing.T) {
	keys := Keys{drawKey(t), drawKey(t)}
	for keys[0].config.id == keys[1].config.id {
		keys[1] = drawKey(t)
	}
	for _, key := range keys {
		sealed, _, err := key.Config().Seal([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := keys.Open(sealed); err != nil || string(got) != "x" {
			t.Errorf("%q, %v", got, err)
		}
		if !bytes.Contains(keys.Encoded(), key.Config().Bytes()) {
			t.Error("a key is not published")
		}
	}
}

func TestWhatCannotBeOpenedIsRefused(t *testing.T) {
	key := drawKey(t)
	sealed, _, err := key.Config().Seal([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) []byte {
		out := bytes.Clone(sealed)
		out[at] ^= 1
		return out
	}
	for name, c := range map[string]struct {
		sealed []byte
		want   error
	}{
		"another key":       {changed(0), ErrKey},
		"another algorithm": {changed(6), ErrKey},
		"a changed key":     {changed(10), errSealed},
		"a changed byte":    {changed(len(sealed) - 1), errSealed},
		"a header":          {sealed[:headerBytes], errSealed},
		"nothing":           {nil, errSealed},
		"zeros for a key":   {append(bytes.Clone(sealed[:headerBytes]), make([]byte, 60)...), errSealed},
	} {
		if _, _, err := (Keys{key}).Open(c.sealed); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Messages of other lengths look alike, as long as they are short.
func TestPaddingHidesLengths(t *testing.T) {
	for n, want := range map[int]int{0: 4096, 1: 4096, 4096: 4096, 4097: 8192, 1 << 20: 1 << 20, 1<<20 + 1: 1 << 21} {
		if got := Padded(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
	short, long := &Request{Method: "POST", Path: "/a"}, &Request{Method: "POST", Path: "/a", Content: make([]byte, 3000)}
	if a, b := len(short.Encode()), len(long.Encode()); a != b {
		t.Errorf("%d and %d bytes", a, b)
	}
	if a, b := len((&Response{Status: 200}).Encode()), len((&Response{Status: 404, Content: make([]byte, 900)}).Encode()); a != b {
		t.Errorf("%d and %d bytes", a, b)
	}
}

func TestTextsThatAreNoKeys(t *testing.T) {
	key := drawKey(t)
	private, err := key.Text()
	if err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	for _, written := range []string{"", "?", "AAAA", key.Config().Text()} {
		if _, err := ParseKey("--k", written); !errors.As(err, &p) || p.Param != "--k" || !strings.Contains(err.Error(), "hushgrad relay key") {
			t.Errorf("%q: %v", written, err)
		}
	}
	other := key.Config().Bytes()
	other[len(other)-1] = 3
	for _, written := range []string{"", "?", "AAAA", private, text.EncodeToString(other), text.EncodeToString(key.Config().Bytes()[:40])} {
		if _, err := ParseConfig("--c", written); !errors.As(err, &p) || p.Param != "--c" {
			t.Errorf("%q: %v", written, err)
		}
	}
	if _, err := ParseKeys("--k", []string{private, private}); !errors.As(err, &p) || !strings.Contains(err.Error(), "identifier") {
		t.Errorf("two keys with one identifier: %v", err)
	}
	if strings.Contains(private, key.Config().Text()) {
		t.Error("the private key is the public one")
	}
}

// Whatever a message is, it is refused or read, and what was read is written and read again.
func FuzzBinary(f *testing.F) {
	f.Add(unhex(f, vectorRequest))
	f.Add(unhex(f, vectorResponse))
	f.Add([]byte{0, 4, 'P', 'O', 'S', 'T', 0, 0, 1, '/', 4, 1, 'a', 1, 'b', 1, 'c', 0, 0, 0})
	f.Add([]byte{1, 0x40, 0xc8, 4, 1, 'a', 1, 'b', 1, 'c', 0, 0, 0})
	f.Add([]byte{1, 0x40, 0x67, 0, 0x40, 0xc8, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, message []byte) {
		if r, err := DecodeRequest(message); err == nil {
			if again, err := DecodeRequest(r.Encode()); err != nil || again.Path != r.Path || !bytes.Equal(again.Content, r.Content) || !reflect.DeepEqual(again.Header, r.Header) {
				t.Errorf("%+v, %v, want %+v", again, err, r)
			}
		}
		if r, err := DecodeResponse(message); err == nil {
			if again, err := DecodeResponse(r.Encode()); err != nil || again.Status != r.Status || !bytes.Equal(again.Content, r.Content) {
				t.Errorf("%+v, %v, want %+v", again, err, r)
			}
		}
	})
}

// No bytes but those that were sealed to the key are opened.
// Configurations come back as they were written. A configuration of other algorithms is left out, and a list that does not end is refused.
func TestConfigurationsAreRead(t *testing.T) {
	one, two := drawKey(t), drawKey(t)
	written := (Keys{one, two}).Encoded()
	got, err := ParseEncoded(written)
	if err != nil || len(got) != 2 || got[0].Text() != one.Config().Text() || got[1].Text() != two.Config().Text() {
		t.Errorf("%v, %v, want two", got, err)
	}
	if got, err := ParseEncoded(append([]byte{0, 3, 7, 0, 0x10}, written...)); err != nil || len(got) != 2 {
		t.Errorf("with another algorithm: %v, %v, want two", got, err)
	}
	for name, list := range map[string][]byte{"cut": written[:len(written)-1], "a byte": {0}, "too long": make([]byte, MaxEncoded+2)} {
		if got, err := ParseEncoded(list); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzEncoded(f *testing.F) {
	f.Add((Keys{drawKey(f), drawKey(f)}).Encoded())
	f.Add([]byte{0, 3, 7, 0, 0x10})
	f.Add([]byte{0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, list []byte) {
		all, err := ParseEncoded(list)
		if err != nil && all != nil {
			t.Errorf("%x: %v with %v", list, all, err)
		}
		for _, c := range all {
			if again, err := ParseConfig("key", c.Text()); err != nil || again.Text() != c.Text() {
				t.Errorf("%s: %v, %v", c.Text(), again, err)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	key := drawKey(f)
	sealed, _, err := key.Config().Seal([]byte("x"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed[:len(sealed)-1])
	f.Add(append(header(key.config.id), make([]byte, 48)...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, message []byte) {
		if got, _, err := (Keys{key}).Open(message); err == nil && !bytes.Equal(message, sealed) {
			t.Errorf("%x was opened: %x", message, got)
		}
	})
}

// A message that ends within a part is refused. The RFC lets it end behind one.
func TestMessagesThatEndTooEarly(t *testing.T) {
	whole := unhex(t, vectorRequest)
	for n := range whole {
		if r, err := DecodeRequest(slices.Clip(whole[:n])); err == nil {
			t.Errorf("%d bytes: %+v", n, r)
		}
	}
	for name, message := range map[string][]byte{
		"content of 5 bytes that has 4":    {1, 0x40, 0xc8, 0, 5, 1, 2, 3, 4},
		"content of 1 byte that has 0":     {1, 0x40, 0xc8, 0, 1},
		"padding that is not zero":         {1, 0x40, 0xc8, 0, 0, 0, 0, 1},
		"a field without a value":          {1, 0x40, 0xc8, 2, 1, 'a'},
		"a field in capital letters":       {1, 0x40, 0xc8, 4, 1, 'A', 1, 'b'},
		"a status that is no final one":    {1, 0x40, 0x67, 0},
		"content of unheard-of length":     {1, 0x40, 0xc8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"lengths that are not known":       {3, 0x40, 0xc8},
		"a request in place of a response": {0, 3, 'G', 'E', 'T', 0, 0, 1, '/'},
	} {
		if r, err := DecodeResponse(slices.Clip(message)); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
