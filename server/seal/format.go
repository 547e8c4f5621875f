package seal

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
)

// Format has the lengths of what clients of one round send to the shuffler, in bytes.
type Format struct {
	// Report is the length of the report, or of the first server's share.
	Report int
	// Tag is TagBytes in a round of a mechanism for two servers, and otherwise 0: the length of
	// the second share's tag, and of the tag's key.
	Tag int
	// Token is the length of the sealed token: admit.TokenBytes in a round that asks for tokens, and
	// otherwise 0. The token under fl.Round.OuterIssuerKey is not sealed.
	Token int
	// Sealed is the length of the sealed report: Report, Tag and Token, encrypted.
	Sealed int
	// Second is the length of the second server's share. Second is 0 in a round of a mechanism for one server.
	Second int
	// SealedSecond is the length of the sealed share, which follows the sealed report: the tag's key and the
	// second server's share, encrypted.
	SealedSecond int
}

// FormatOf returns the format of a round and its mechanism. The error is a *fl.ParamError: for
// shuffler when the round has none, for seal_key or share_key when the key is none of this package, for
// outer_issuer_key when the round asks for tokens that the shuffler cannot check, and for mechanism
// when reports have several lengths or would not be protected by a shuffler that permutes them.
func FormatOf(r fl.Round, m fl.Mechanism) (f Format, err error) {
	refuse := func(name string, got any, rule string, args ...any) (Format, error) {
		return Format{}, fmt.Errorf("seal: %w", fl.Invalid(name, got, rule, args...))
	}
	if r.Shuffler == "" {
		return refuse("shuffler", "", "is required")
	}
	a, _, err := parsePublic(sealKey, r.SealKey)
	if err != nil {
		return Format{}, fmt.Errorf("seal: %w", err)
	}
	if len(r.IssuerKey) > 0 {
		const outer = "outer_issuer_key"
		if len(r.OuterIssuerKey) == 0 {
			return refuse(outer, "nothing", "must be there with an issuer_key: the shuffler counts admitted clients by it. "+
				"hushgrad issue key prints both keys, and hushgrad round --issuer-key reads them")
		}
		if err := admit.CheckKey(outer, r.OuterIssuerKey); err != nil {
			return Format{}, fmt.Errorf("seal: %w", err)
		}
		f.Token = admit.TokenBytes
	}
	switch m := m.(type) {
	case fl.SharedMechanism:
		if len(r.ShareKey) == 0 {
			return refuse(shareKey, "nothing", "must be there with mechanism %s: clients seal second shares to it. "+
				"hushgrad shuffle keys --output json prints it, and hushgrad round --share-key takes it", r.Mechanism)
		}
		a, _, err := parsePublic(shareKey, r.ShareKey)
		if err != nil {
			return Format{}, fmt.Errorf("seal: %w", err)
		}
		f.Report, f.Tag, f.Second = m.ShareBytes(fl.FirstServer), TagBytes, m.ShareBytes(fl.SecondServer)
		f.SealedSecond = f.Tag + f.Second + a.overhead
	case fl.ReportSizer:
		f.Report = m.ReportBytes()
	default:
		return refuse("mechanism", r.Mechanism, "must have reports of one length: others would show what they say")
	}
	if g := m.Guarantee(); g.Trust == fl.Shuffle {
		return refuse("mechanism", r.Mechanism, "must not hold all messages of a client in one report, which a permutation of reports does not separate")
	}
	if f.SealedSecond == 0 && len(r.ShareKey) > 0 {
		return refuse(shareKey, fmt.Sprintf("%d bytes", len(r.ShareKey)), "must be empty: mechanism %s has one share", r.Mechanism)
	}
	f.Sealed = f.Report + f.Tag + f.Token + a.overhead
	return f, nil
}

// Item is the length of what one client sends: the sealed report, and for two servers the sealed share.
func (f Format) Item() int { return f.Sealed + f.SealedSecond }

// Split cuts the items of a message apart. They are parts of it. The error is a *fl.ParamError
// for reports when there is none, more than fl.MaxBatch, or an incomplete one.
func Split(message []byte, size int) ([][]byte, error) {
	n := len(message) / size
	if n < 1 || n > fl.MaxBatch || n*size != len(message) {
		return nil, fmt.Errorf("seal: %w", fl.Invalid("reports", fmt.Sprintf("%d bytes", len(message)), "must have 1 to %d times %d", fl.MaxBatch, size))
	}
	items := make([][]byte, n)
	for i := range items {
		items[i] = message[i*size : (i+1)*size : (i+1)*size]
	}
	return items, nil
}
