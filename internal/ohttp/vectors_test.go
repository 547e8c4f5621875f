package ohttp

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The example of RFC 9458, appendix A.
const (
	vectorPrivate  = "3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a"
	vectorConfig   = "01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003"
	vectorRequest  = "00034745540568747470730b6578616d706c652e636f6d012f"
	vectorSealed   = "010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594d2a10c695d858c40a026e7965e7d86b83dd440b2c0185204b4d63525"
	vectorSecret   = "62d87a6ba569ee81014c2641f52bea36"
	vectorNonce    = "c789e7151fcba46158ca84b04464910d"
	vectorResponse = "0140c8"
	vectorAnswer   = "c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func vectorKey(t testing.TB) *Key {
	t.Helper()
	private, err := suite.kem.NewPrivateKey(unhex(t, vectorPrivate))
	if err != nil {
		t.Fatal(err)
	}
	return newKey(private, 1)
}

func TestTheExampleOfTheRFC(t *testing.T) {
	key := vectorKey(t)
	config, err := decodeConfig(unhex(t, vectorConfig))
	if err != nil || config.id != 1 || !bytes.Equal(config.public.Bytes(), key.config.public.Bytes()) {
		t.Fatalf("configuration %v, %v", config, err)
	}
	raw, answer, err := Keys{key}.Open(unhex(t, vectorSealed))
	if err != nil || !bytes.Equal(raw, unhex(t, vectorRequest)) || !bytes.Equal(answer.secret, unhex(t, vectorSecret)) {
		t.Fatalf("request %x, %v", raw, err)
	}
	r, err := DecodeRequest(raw)
	if err != nil || r.Method != "GET" || r.Scheme != "https" || r.Authority != "example.com" || r.Path != "/" {
		t.Errorf("request %+v, %v", r, err)
	}
	sealed, err := answer.seal(unhex(t, vectorNonce), unhex(t, vectorResponse))
	if err != nil || !bytes.Equal(sealed, unhex(t, vectorAnswer)) {
		t.Errorf("response %x, %v", sealed, err)
	}
	opened, err := answer.Open(unhex(t, vectorAnswer))
	if err != nil || !bytes.Equal(opened, unhex(t, vectorResponse)) {
		t.Errorf("response %x, %v", opened, err)
	}
	if resp, err := DecodeResponse(opened); err != nil || resp.Status != 200 || len(resp.Content) > 0 {
		t.Errorf("response %+v, %v", resp, err)
	}
}
