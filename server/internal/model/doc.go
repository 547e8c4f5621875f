// Package model holds the current model in the messages that its readers get, one copy for all of
// them. Use it in every role that answers GetModel. Start with [Current], and with [Upload] for a
// model on its way in.
package model
