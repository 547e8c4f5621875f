// Package model keeps the current model in a journal, in the messages that its readers get, and sends
// it from there. Use it in every role that answers GetModel. Start with [Open], and with [Store.Upload]
// for a model on its way in.
//
// In memory there are only the parts that are on their way to readers, each once for all of them.
package model
