package shuffler

import (
	"bytes"
	"context"
	"net"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// After a round no file of a real server or of a real shuffler, and no line of their logs, has the
// address of a client: not as text and not as four bytes. The clients have addresses of their own
// on the loopback network, which nobody else uses.
func TestNoFileOrLogHasTheAddressOfAClient(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	parameter := startProcess(t, "server", dir, "")
	shuffler := startProcess(t, "shuffler", dir, parameter.address)
	upstream, err := dial(parameter.address)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	operator := client.NewOperator(upstream)
	load := newLoad(t, operator, shuffler.address, 40, nil)

	source := net.IPv4(127, 77, 78, 79).To4()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: source}}
	conn, err := grpc.NewClient(shuffler.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", to) }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	load.clients = service.NewRoundsClient(conn)
	load.run(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := operator.Estimate(ctx, "r", true); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &parameter.log, &shuffler.log)
	}
	files := filesOf(t, dir) // also what the stop may remove
	for _, p := range []*process{shuffler, parameter} {
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Errorf("%s: %v", p.role, err)
		}
	}
	files = append(append(files, filesOf(t, dir)...), parameter.log.Bytes(), shuffler.log.Bytes())

	known := false
	for _, file := range files {
		known = known || bytes.Contains(file, load.round.PublicSeed[:])
		for _, trace := range [][]byte{[]byte(source.String()), source, []byte("127.77.")} {
			if bytes.Contains(file, trace) {
				t.Errorf("a file or a log has the address of a client: %q", trace)
			}
		}
	}
	if !known {
		t.Error("no file has the seed of the round: the test finds nothing in them")
	}
	if len(parameter.log.Bytes()) == 0 || len(shuffler.log.Bytes()) == 0 {
		t.Error("a log is empty: the test finds nothing in it")
	}
}
