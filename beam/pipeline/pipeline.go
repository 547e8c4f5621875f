// Package pipeline is an Apache Beam pipeline that estimates rounds from files of reports. Use it
// where reports lie on more disks than one machine reads. Start with [Config] and [Build].
//
// # Stages
//
//	names of files
//	  scan     each file is read once: its head names the round, its trailer or its last line
//	           shows that it is whole, and it is cut into ranges of about 256 KiB
//	  once     files are grouped by their SHA-256; two of one content are an error
//	  read     each range is read again, checked against the scan, and leaves as one batch. Where a
//	           file cannot be read from the middle, one worker reads all of it
//	  distinct only for CSV with ids: reports are grouped by round and id, and one of each stays
//	  count    a worker adds batches to one aggregator for every round, until a bundle ends
//	  combine  aggregators are merged and estimate, see [Combine]
//	  write    files for every round, see package internal/estimates
//
// Between read and count nothing is stored or sent: a runner fuses them. What leaves a worker is
// one aggregator for every bundle and round. Memory and traffic thus grow with the number of
// files, ranges and bundles, and not with the number of reports. The stage distinct is the exception:
// its reports are sent to the machine that holds their id.
//
// Aggregators are sums of integers. The estimate has the same bits, however a runner splits files.
// The estimates of hushgrad aggregate and of a server on the same reports have these bits, too.
package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/hushgrad/hushgrad/fl"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[Batch](), encodeBatch, decodeBatch)
	beam.RegisterCoder(reflect.TypeFor[Accumulator](), encodeAccumulator, decodeAccumulator)
	register.DoFn3x1[context.Context, string, func(string, scannedFile), error](&scanFn{})
	register.DoFn3x1[string, func(*scannedFile) bool, func(piece), error](&onceFn{})
	register.DoFn4x1[context.Context, piece, func(string, Batch), func(string, Batch), error](&readFn{})
	register.DoFn3x1[string, func(*Batch) bool, func(string, Batch), error](&distinctFn{})
	register.DoFn3x1[context.Context, string, Estimate, error](&writeFn{})
	register.DoFn3x1[string, Batch, func(string, Accumulator), error](&countFn{})
	register.Function2x0(emptyBatch)
	register.Emitter2[string, Accumulator]()
	register.Emitter1[piece]()
	register.Emitter2[string, scannedFile]()
	register.Emitter2[string, Batch]()
	register.Iter1[scannedFile]()
	register.Iter1[Batch]()
	register.Combiner2[Accumulator, Estimate](&Combine{})
}

// Config is what a pipeline is made of.
type Config struct {
	// Rounds are the complete rounds that reports may be of, at least one, with different ids.
	Rounds []fl.Round
	// Files are names of files, in the forms that package filesystem of the Beam SDK reads: paths,
	// gs:// and s3://. Each is a file of package reportfile, or CSV of package keyedcsv.
	Files []string
	// Out is a directory, in the same forms. A round with the id x gets the directory x in it.
	Out string
	// Keys are names of coordinates, for all rounds; without names they are numbered.
	Keys []string
}

// Build adds the whole pipeline to s. The error is a *fl.ParamError, wrapped, for a Config that
// breaks a rule.
func Build(s beam.Scope, c Config) error {
	rounds, err := EncodeRounds(c.Rounds)
	switch {
	case err != nil:
		return err
	case len(c.Files) == 0:
		return fl.Invalid("files", 0, "must be at least one")
	case c.Out == "":
		return fl.Invalid("out", "", "is required: the directory for the results")
	}
	plain, distinct := Read(s, rounds, c.Files)
	estimates := Aggregate(s, rounds, plain, distinct)
	beam.ParDo0(s.Scope("write"), &writeFn{Out: c.Out, Keys: c.Keys}, estimates)
	return nil
}

// Rounds are complete rounds in their canonical encoding, as workers get them.
type Rounds [][]byte

// EncodeRounds checks rounds and encodes them for workers.
func EncodeRounds(in []fl.Round) (Rounds, error) {
	if len(in) == 0 {
		return nil, fl.Invalid("rounds", 0, "must be at least one")
	}
	var out Rounds
	ids := map[string]bool{}
	for _, r := range in {
		if ids[r.ID] {
			return nil, fl.Invalid("rounds", r.ID, "must have different ids")
		}
		ids[r.ID] = true
		m, err := fl.Open(r)
		if err != nil {
			return nil, err
		}
		if _, shared := m.(fl.SharedMechanism); shared {
			return nil, fl.Invalid("mechanism", r.Mechanism, "must be one whose reports go to one server: whoever has both shares reads the gradient")
		}
		data, err := r.MarshalBinary()
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// byDigest returns the rounds by the digest that names them in files.
func (rs Rounds) byDigest() (map[[sha256.Size]byte]fl.Round, error) {
	out := map[[sha256.Size]byte]fl.Round{}
	for _, data := range rs {
		var r fl.Round
		if err := r.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		out[sha256.Sum256(data)] = r
	}
	return out, nil
}

// Read returns the reports of files as batches, keyed by the digest of their round: those without
// ids, and those with ids, once each.
func Read(s beam.Scope, rounds Rounds, files []string) (plain, distinct beam.PCollection) {
	s = s.Scope("read")
	names := beam.Reshuffle(s, beam.CreateList(s, files))
	scanned := beam.ParDo(s.Scope("scan"), &scanFn{Rounds: rounds}, names)
	pieces := beam.Reshuffle(s, beam.ParDo(s.Scope("once"), &onceFn{}, beam.GroupByKey(s, scanned)))
	plain, named := beam.ParDo2(s.Scope("range"), &readFn{}, pieces)
	return plain, beam.ParDo(s.Scope("distinct"), &distinctFn{}, beam.GroupByKey(s, named))
}

// Aggregate estimates every round from batches that are keyed by its digest. Use it on sources of
// your own, too. A round without reports is an error, as one with too few is.
func Aggregate(s beam.Scope, rounds Rounds, batches ...beam.PCollection) beam.PCollection {
	s = s.Scope("aggregate")
	batches = append(batches, beam.ParDo(s, emptyBatch, beam.CreateList(s, [][]byte(rounds))))
	// Counted before Flatten: some runners store what they flatten.
	var counted []beam.PCollection
	for _, b := range batches {
		counted = append(counted, beam.ParDo(s.Scope("count"), &countFn{Rounds: rounds}, b))
	}
	return beam.CombinePerKey(s.Scope("combine"), &Combine{Rounds: rounds}, beam.Flatten(s, counted...))
}

// emptyBatch is a batch of a round without a report.
func emptyBatch(round []byte, emit func(string, Batch)) {
	digest := sha256.Sum256(round)
	emit(key(digest), Batch{Round: digest})
}

// key is the key of a round: its digest in hexadecimal.
func key(digest [sha256.Size]byte) string { return hex.EncodeToString(digest[:]) }
