package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
)

// maxModelBytes bounds what a server can make a client hold.
const maxModelBytes = 4 << 30

// chunkBytes is the payload of one message of an uploaded model.
const chunkBytes = 1 << 20

// Model is a published model.
type Model struct {
	Version uint64
	Format  string // media type of Data
	Data    []byte
}

// Model fetches the current model and checks its size and SHA-256.
func (c *Client) Model(ctx context.Context) (_ *Model, err error) {
	defer prefix.Error(&err, "client: model")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rounds.GetModel(ctx, &service.GetModelRequest{})
	if err != nil {
		return nil, err
	}
	return receiveModel(stream)
}

// receiveModel reads a model from its stream and checks it against its header.
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
				return nil, damaged("header", "nothing", "is required in the first message")
			}
		}
		data.Write(msg.GetData())
		if size := uint64(data.Len()); size > header.GetSize() || size > maxModelBytes {
			return nil, damaged("data", fmt.Sprintf("%d bytes or more", size), "must be the %d that were announced, at most %d", header.GetSize(), uint64(maxModelBytes))
		}
	}
	sum := sha256.Sum256(data.Bytes())
	if header == nil || uint64(data.Len()) != header.GetSize() || !bytes.Equal(sum[:], header.GetSha256()) {
		return nil, damaged("data", fmt.Sprintf("%d bytes with SHA-256 %x", data.Len(), sum),
			"must be the %d with %x that were announced", header.GetSize(), header.GetSha256())
	}
	return &Model{Version: header.GetVersion(), Format: header.GetFormat(), Data: data.Bytes()}, nil
}

// sendModel announces a model and streams it in messages of chunkBytes.
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
