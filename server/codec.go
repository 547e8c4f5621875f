package server

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// encoded is a part of a model that is encoded already. Under [codec] all streams that send it
// share its bytes. Under gRPC's own codec, in a gRPC server of somebody else, they send the same
// bytes from a copy each.
type encoded struct {
	*service.GetModelResponse
	wire []byte
}

func newEncoded(wire []byte) encoded {
	m := &service.GetModelResponse{}
	m.ProtoReflect().SetUnknown(wire) // fields that are not looked at are sent as they are
	return encoded{m, wire}
}

// codec is gRPC's codec for protocol buffers, and sends what is encoded without a copy.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if e, ok := v.(encoded); ok {
		return mem.BufferSlice{mem.SliceBuffer(e.wire)}, nil
	}
	return c.CodecV2.Marshal(v)
}
