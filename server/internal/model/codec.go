package model

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/hushgrad/hushgrad/internal/service"
)

// encoded is a part of a model that is encoded already. Under [Codec] all streams that send it
// share its bytes. Under gRPC's own codec, in a gRPC server of somebody else, they send the same
// bytes from a copy each.
type encoded struct {
	*service.GetModelResponse
	wire *[]byte
}

func newEncoded(wire *[]byte) encoded {
	m := &service.GetModelResponse{}
	m.ProtoReflect().SetUnknown(*wire) // fields that are not looked at are sent as they are
	return encoded{m, wire}
}

// Codec is gRPC's codec for protocol buffers, and sends parts of models without a copy.
type Codec struct{ encoding.CodecV2 }

// NewCodec returns the codec.
func NewCodec() Codec { return Codec{encoding.GetCodecV2(proto.Name)} }

// Marshal implements encoding.CodecV2. With a pool, though one that keeps nothing, the buffer holds the
// pointer of a part until it is sent.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	if e, ok := v.(encoded); ok {
		return mem.BufferSlice{mem.NewBuffer(e.wire, mem.NopBufferPool{})}, nil
	}
	return c.CodecV2.Marshal(v)
}
