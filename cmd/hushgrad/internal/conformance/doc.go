// Package conformance judges another implementation of the format of rounds and reports. Use it for
// hushgrad verify conformance. Start with [Judge]; [Respond] is this module's own answer to a case.
//
// The cases and the answers that are right are in vectors.jsonl. TestTheVectorsAreOurs compares them with this
// module's code, so that the format does not change unnoticed. Cases of [Encode] have probabilities in place of
// an answer.
package conformance
