// Command protogen regenerates what is made of the .proto files below proto/: the Go code, and the
// descriptors that the Python package ships. Use it after a change of such a file. Start it through
// go generate ./proto/...
//
// It compiles the files in process and feeds the two protoc plugins that go.mod pins as
// tools. No protoc has to be installed.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "Usage: protogen MODULE DESCRIPTORS")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// module is the path of the Go module. A file's option go_package says in which of its folders the
// Go code belongs.
const module = "github.com/hushgrad/hushgrad"

// generate reads the files below proto/ in the folder dir of the module.
func generate(dir, descriptors string) error {
	root := filepath.Join(dir, "proto")
	files, err := protoFiles(root)
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(context.Background(), files...)
	if err != nil {
		return err
	}
	req := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: files,
		Parameter:      proto.String("module=" + module),
	}
	seen := map[string]bool{}
	for _, f := range compiled {
		addWithImports(req, f, seen)
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := runPlugin(dir, plugin, req); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	return writeDescriptors(descriptors, req)
}

// protoFiles lists the .proto files below root, relative to it.
func protoFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no .proto file below %s", root)
	}
	return files, err
}

// addWithImports appends f to the request after everything f imports.
func addWithImports(req *pluginpb.CodeGeneratorRequest, f protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[f.Path()] {
		return
	}
	seen[f.Path()] = true
	imports := f.Imports()
	for i := range imports.Len() {
		addWithImports(req, imports.Get(i).FileDescriptor, seen)
	}
	req.ProtoFile = append(req.ProtoFile, fileProto(f))
}

// fileProto keeps the comments, which protodesc leaves out of what it did not parse itself.
func fileProto(f protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	if w, ok := f.(interface {
		FileDescriptorProto() *descriptorpb.FileDescriptorProto
	}); ok {
		return w.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(f)
}

func runPlugin(dir, plugin string, req *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", plugin)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &resp); err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("%s", strings.TrimSpace(resp.GetError()))
	}
	for _, f := range resp.GetFile() {
		path := filepath.Join(dir, filepath.FromSlash(f.GetName()))
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
