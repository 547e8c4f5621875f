package client

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// maxModelBytes bounds what a server can make a client hold.
const maxModelBytes = 4 << 30

// chunkBytes is the payload of one message of an uploaded model.
const chunkBytes = 1 << 20

func receiveModel(stream grpc.ServerStreamingClient[service.GetModelResponse]) (*Model, error) {
	var header *service.ModelHeader
	var data bytes.Buffer
	for {
		msg, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if header == nil {
			if header = msg.GetHeader(); header == nil {
				return nil, fmt.Errorf("the first message has no header: %w", ErrIncomplete)
			}
		}
		data.Write(msg.GetData())
		if size := uint64(data.Len()); size > header.GetSize() || size > maxModelBytes {
			return nil, fmt.Errorf("got %d bytes, announced were %d, at most %d are taken: %w", size, header.GetSize(), uint64(maxModelBytes), ErrIncomplete)
		}
	}
	sum := sha256.Sum256(data.Bytes())
	if header == nil || uint64(data.Len()) != header.GetSize() || !bytes.Equal(sum[:], header.GetSha256()) {
		return nil, fmt.Errorf("got %d bytes with SHA-256 %x, announced were %d with %x: %w",
			data.Len(), sum, header.GetSize(), header.GetSha256(), ErrIncomplete)
	}
	return &Model{Version: header.GetVersion(), Format: header.GetFormat(), Data: data.Bytes()}, nil
}

func sendModel(stream grpc.ClientStreamingClient[service.PutModelRequest, service.PutModelResponse], format string, data []byte) (version uint64, err error) {
	sum := sha256.Sum256(data)
	msg := &service.PutModelRequest{Header: &service.ModelHeader{Format: format, Size: uint64(len(data)), Sha256: sum[:]}}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), chunkBytes)
		msg.Data, data = data[:n], data[n:]
		if err := stream.Send(msg); errors.Is(err, io.EOF) {
			break // the reason comes with CloseAndRecv
		} else if err != nil {
			return 0, err
		}
		msg = new(service.PutModelRequest)
	}
	resp, err := stream.CloseAndRecv()
	return resp.GetVersion(), err
}
