module github.com/hushgrad/hushgrad/bench/peers

go 1.26.0

replace github.com/hushgrad/hushgrad => ../..

require (
	github.com/cloudflare/circl v1.6.5
	github.com/hushgrad/hushgrad v0.0.0-00010101000000-000000000000
	github.com/klauspost/compress v1.20.3
)

require (
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261019180522-ce908d29299b // indirect
	google.golang.org/grpc v1.85.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
