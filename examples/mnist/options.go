package main

import (
	"io"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
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
	choice           *dataset.Choice   // nil: they were given
	opened           features.Features // of that name, once there is a plan
	first            []float64         // model that the run starts from
	bare             plan.Steps        // of the same rounds without privacy
	request          *plan.Request
	seed             trainer.Seed
	explain          bool
	roles            int
	binary           string // hushgrad for three roles, empty: it is built
	dashboard        command.Page
}

// Values of --roles.
const (
	oneRole    = 1
	threeRoles = 3
)

// site says who holds the rounds.
func (o options) site(log io.Writer) parties.Options {
	return parties.Options{Apart: o.roles == threeRoles, Binary: o.binary, Dashboard: o.dashboard.Address, Delta: o.request.Delta, Log: log}
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	f.SetOutput(stdout)
	f.StringVar(&o.data, "data", dataset.Generated, "`directory` with the four MNIST idx files, download for MNIST from the cache or the network, or textures for generated clothes, shoes and bags; empty: generated digits")
	f.StringVar(&o.model, "model", "softmax", strings.Join(trainer.ModelNames(), ", "))
	f.StringVar(&o.features, "features", "", "what the model sees of an image: "+strings.Join(dataset.FeatureNames(), ", ")+"; "+dataset.AutoFeatures+": the best on public pictures; empty: "+dataset.DemoFeatures+"; "+dataset.EdgesCentred+" for generated digits, which "+dataset.DemoFeatures+" know without any client; "+dataset.Grey+" for --model cnn")
	public := f.String("public", "", "with --features "+dataset.AutoFeatures+": comma-separated `list` of the public pictures that decide; empty: all")
	f.Uint64Var((*uint64)(&o.seed), "seed", 0, "0: fresh randomness for every client; any other value makes the run repeatable, without any privacy")
	f.StringVar(&o.out, "out", "", "`directory` for history.csv, summary.json, accuracy.png and model.npy")
	f.BoolVar(&o.explain, "explain", false, "print what was planned and why")
	f.IntVar(&o.roles, "roles", oneRole, "1: a server in this process; 3: issuer, shuffler and aggregator, each in a process of its own, and every client with a token and a sealed report")
	f.StringVar(&o.binary, "hushgrad", "", "with --roles 3: the hushgrad binary, a `file`; empty: it is built, in the directory of the module")
	o.dashboard.Bind(f, "dashboard", "show the run in a browser, at `host:port`, or at a free port of this machine; the page stays until Ctrl-C where there is a terminal")
	request, check := plan.Flags(f)
	o.request = request
	if err := command.ParseOnly(f, args); err != nil {
		return o, err
	}
	if o.features == "" {
		o.features = dataset.DemoFeatures
		if o.data == dataset.Generated {
			o.features = dataset.EdgesCentred
		}
		if o.model == "cnn" { // convolutions need a picture
			o.features = dataset.Grey
		}
	}
	if o.roles == threeRoles && !f.Changed("trust") && request.Mechanism != hdsum.SharesName {
		request.Trust = plan.Shuffler // which is one of the parties
	}
	if o.public, err = dataset.ParseKinds(*public); err != nil {
		return o, err
	}
	switch {
	case *public != "" && o.features != dataset.AutoFeatures:
		return o, fl.Invalid("--public", *public, "needs --features %s", dataset.AutoFeatures)
	case o.features == dataset.AutoFeatures && o.model != "softmax":
		return o, fl.Invalid("--features", o.features, "must be a name with --model %s: only softmax regression is rehearsed", o.model)
	case o.roles != oneRole && o.roles != threeRoles:
		return o, fl.Invalid("--roles", o.roles, "must be %d or %d", oneRole, threeRoles)
	case o.roles == threeRoles && request.Mechanism == hdsum.Name:
		return o, fl.Invalid("--roles", o.roles, "must be %d with --mechanism %s: a report holds all messages of a client, which a shuffler of reports does not separate; %s is the sum by two servers", oneRole, hdsum.Name, hdsum.SharesName)
	case o.roles == oneRole && (request.Mechanism == hdsum.SharesName || request.Trust == plan.TwoServers):
		return o, fl.Invalid("--roles", o.roles, "must be %d with --mechanism %s and with --trust %s: the two servers are the shuffler and the aggregator", threeRoles, hdsum.SharesName, plan.TwoServers)
	case o.roles == threeRoles && o.seed != 0 && o.dashboard.Address != "":
		return o, fl.Invalid("--seed", o.seed, "must be 0 with --dashboard and --roles %d: the aggregator shows what rounds promise, and does not know that the noise repeats", threeRoles)
	case o.roles == oneRole && o.binary != "":
		return o, fl.Invalid("--hushgrad", o.binary, "needs --roles %d", threeRoles)
	}
	return o, check()
}
