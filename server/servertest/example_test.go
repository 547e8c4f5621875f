package servertest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/servertest"
)

func ExampleStart() {
	s, err := servertest.Start(server.Config{})
	if err != nil {
		log.Fatal(err)
	}
	version, err := s.Operator().PutModel(context.Background(), "text/plain", []byte("weights"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("model", version)
	fmt.Println("closed:", s.Close())
	// Output:
	// model 1
	// closed: <nil>
}
