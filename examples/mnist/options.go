package main

import (
	"io"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// options are what the flags say.
type options struct {
	data, model, out string
	features         string            // name
	public           []string          // pictures that decide about them
	choice           *plan.Choice      // nil: they were given
	opened           features.Features // of that name, once there is a plan
	request          *plan.Request
	seed             trainer.Seed
	explain          bool
	roles            int
	binary           string // hushgrad for three roles, empty: it is built
	dashboard        watched
}

// Values of -roles.
const (
	oneRole    = 1
	threeRoles = 3
)

// site returns who holds the rounds.
func (o options) site(run *plan.Run, log io.Writer) site {
	if o.roles == threeRoles {
		return &threeParties{run: run, binary: o.binary, log: log, dashboard: o.dashboard.address}
	}
	return &oneProcess{run: run, seed: o.seed, delta: o.request.Delta, log: log, dashboard: o.dashboard.address}
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	f.SetOutput(stdout)
	f.StringVar(&o.data, "data", dataset.Generated, "`directory` with the four MNIST idx files, download for MNIST from the cache or the network, or textures for generated clothes, shoes and bags; empty: generated digits")
	f.StringVar(&o.model, "model", "softmax", strings.Join(trainer.ModelNames(), ", "))
	f.StringVar(&o.features, "features", "", "what the model sees of an image: "+strings.Join(dataset.FeatureNames(), ", ")+"; "+plan.AutoFeatures+": the best on public pictures; empty: "+plan.DemoFeatures+", or "+dataset.Grey+" for -model cnn")
	public := f.String("public", "", "with -features "+plan.AutoFeatures+": comma-separated `list` of the public pictures that decide; empty: all that were measured")
	f.Uint64Var((*uint64)(&o.seed), "seed", 0, "0: fresh randomness for every client; any other value makes the run repeatable, without any privacy")
	f.StringVar(&o.out, "out", "", "`directory` for history.csv, summary.json, accuracy.png and model.npy")
	f.BoolVar(&o.explain, "explain", false, "print what was planned and why")
	f.IntVar(&o.roles, "roles", oneRole, "1: a server in this process; 3: issuer, shuffler and aggregator, each in a process of its own, and every client with a token and a sealed report")
	f.StringVar(&o.binary, "hushgrad", "", "with -roles 3: the hushgrad binary, a `file`; empty: it is built, in the directory of the module")
	f.VarPF(&o.dashboard, "dashboard", "", "show the run in a browser, at `host:port`, or at a free port of this machine; the page stays until Ctrl-C where there is a terminal").NoOptDefVal = "true"
	request, check := plan.Flags(f)
	o.request = request
	if err := command.ParseOnly(f, args); err != nil {
		return o, err
	}
	if o.features == "" {
		o.features = plan.DemoFeatures
		if o.model == "cnn" { // convolutions need a picture
			o.features = dataset.Grey
		}
	}
	if o.public, err = plan.ParsePublic(*public); err != nil {
		return o, err
	}
	switch {
	case *public != "" && o.features != plan.AutoFeatures:
		return o, fl.Invalid("-public", *public, "needs -features %s", plan.AutoFeatures)
	case o.features == plan.AutoFeatures && o.model != "softmax":
		return o, fl.Invalid("-features", o.features, "must be a name with -model %s: only softmax was measured", o.model)
	case o.roles != oneRole && o.roles != threeRoles:
		return o, fl.Invalid("-roles", o.roles, "must be %d or %d", oneRole, threeRoles)
	case o.roles == threeRoles && request.Mechanism == hdsum.Name:
		return o, fl.Invalid("-roles", o.roles, "must be %d with -mechanism %s: a report holds all messages of a client, which a shuffler of reports does not separate; %s is the sum by two servers", oneRole, hdsum.Name, shares.Name)
	case o.roles == oneRole && request.Mechanism == shares.Name:
		return o, fl.Invalid("-roles", o.roles, "must be %d with -mechanism %s: its two servers are the shuffler and the aggregator", threeRoles, shares.Name)
	case o.roles == threeRoles && o.seed != 0 && o.dashboard.address != "":
		return o, fl.Invalid("-seed", o.seed, "must be 0 with -dashboard and -roles %d: the aggregator shows what rounds promise, and does not know that the noise repeats", threeRoles)
	case o.roles == oneRole && o.binary != "":
		return o, fl.Invalid("-hushgrad", o.binary, "needs -roles %d", threeRoles)
	}
	return o, check()
}
