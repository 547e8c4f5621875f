package main

import (
	"os"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// writeDescriptors writes the compiled files as one FileDescriptorSet, every file after what it
// imports. The messages in which a server says what is wrong with a request come along.
func writeDescriptors(path string, req *pluginpb.CodeGeneratorRequest) error {
	files := &pluginpb.CodeGeneratorRequest{}
	seen := map[string]bool{}
	for _, f := range req.GetProtoFile() {
		seen[f.GetName()] = true
		bare := proto.CloneOf(f)
		bare.SourceCodeInfo = nil // comments
		files.ProtoFile = append(files.ProtoFile, bare)
	}
	addWithImports(files, status.File_google_rpc_status_proto, seen)
	addWithImports(files, errdetails.File_google_rpc_error_details_proto, seen)
	set := &descriptorpb.FileDescriptorSet{File: files.GetProtoFile()}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
