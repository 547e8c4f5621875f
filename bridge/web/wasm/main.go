//go:build js

// Command wasm is what index.js runs in a browser: it answers the requests of package bridge/internal/abi.
// Build it with go run ./bridge/web.
package main

import (
	"context"
	"errors"
	"syscall/js"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/bridge/internal/abi"
	"github.com/hushgrad/hushgrad/fl"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

func main() {
	session := abi.NewSession()
	functions := js.ValueOf(map[string]any{
		"call": js.FuncOf(func(_ js.Value, args []js.Value) any {
			payload := bytesOf(args[1])
			defer clear(payload) // a gradient
			answer, out := session.Call(context.Background(), []byte(args[0].String()), payload)
			return []any{string(answer), arrayOf(out)}
		}),
		"canonical": js.FuncOf(func(_ js.Value, args []js.Value) any {
			description, err := canonical(args[0].String())
			if p, ok := errors.AsType[*fl.ParamError](err); ok {
				return map[string]any{"param": p.Param, "got": p.Got, "rule": p.Rule, "message": err.Error()}
			}
			if err != nil {
				return map[string]any{"message": err.Error()}
			}
			return arrayOf(description)
		}),
	})
	key := js.Global().Get("Symbol").Call("for", "hushgrad")
	js.Global().Get("Reflect").Call("set", js.Global(), key, functions)
	select {}
}

// canonical returns the canonical bytes of a round in the JSON of protocol buffers.
func canonical(text string) ([]byte, error) {
	var m pb.Round
	if err := protojson.Unmarshal([]byte(text), &m); err != nil {
		return nil, fl.Invalid("round", err.Error(), "must be hushgrad.v1.Round in JSON")
	}
	r, err := fl.RoundFromProto(&m)
	if err != nil {
		return nil, err
	}
	return r.MarshalBinary()
}

// bytesOf copies a Uint8Array, nil for null.
func bytesOf(array js.Value) []byte {
	if array.IsNull() {
		return nil
	}
	b := make([]byte, array.Length())
	js.CopyBytesToGo(b, array)
	return b
}

// arrayOf copies bytes to a Uint8Array.
func arrayOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}
