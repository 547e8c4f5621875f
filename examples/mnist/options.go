package main

import (
	"fmt"
	"io"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/internal/training"
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
	features         string // name
	sites            int    // 0: clients hold their own pictures
	classes          int
	transpose        bool
	public           []string          // pictures that decide about them, and the first of which the run is planned on
	warm             bool              // a public network knows the labels
	choice           *dataset.Choice   // nil: they were given
	opened           features.Features // of that name, once there is a plan
	first            []float64         // model that the run starts from
	bare             plan.Steps        // of the same rounds without privacy
	check            *training.Check   // of steps and means
	request          *plan.Request
	seed             trainer.Seed
	explain          bool
	live             bool // on a terminal: blocks in place of a line for each round, and only what fits 24 lines
	dashboard        command.Page
	flags            *flag.FlagSet
	parties.Flags
}

// hold says what the clients are: sites that share all pictures, which are the records that ε is about, or people with their own.
func (o *options) hold(q *plan.Request) error {
	if q.Trust == plan.OwnSite && !o.flags.Changed("sites") {
		o.sites = sites
	}
	switch {
	case q.Trust != plan.OwnSite && !o.flags.Changed("sites"):
		return nil
	case q.Trust != plan.OwnSite && q.Trust != plan.TwoServers:
		return fl.Invalid("--sites", o.sites, "needs --trust %s or --trust %s", plan.OwnSite, plan.TwoServers)
	case o.sites < 2 || o.sites > dataset.Pictures:
		return fl.Invalid("--sites", o.sites, "must be in [2, %d]", dataset.Pictures)
	}
	q.Clients, q.Records = o.sites, o.sites // at least so many, until the pictures are counted
	if err := command.Unused(o.flags, "with sites: all of them are in every round, and --sites is their number", "clients", "cohort"); err != nil || q.Trust != plan.OwnSite {
		return err
	}
	return command.Unused(o.flags, "with --trust own-site: each site adds Gaussian noise to its own sum", "mechanism")
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	f := flag.NewFlagSet(program, flag.ContinueOnError)
	f.SetOutput(stdout)
	f.StringVar(&o.data, "data", dataset.Generated, "`directory` with the four MNIST idx files, download for MNIST from the cache or the network, or textures for generated clothes, shoes and bags; empty: generated digits")
	o.flags, o.model = f, softmax
	command.OneOf(f, &o.model, "model", "", trainer.ModelNames(), strings.Join(trainer.ModelNames(), ", "))
	command.OneOf(f, &o.features, "features", "", append([]string{""}, dataset.FeatureChoices()...), "what the model sees of an image: "+strings.Join(dataset.FeatureNames(), ", ")+"; "+dataset.AutoFeatures+": the best on public pictures; "+dataset.Formulas+": the best of those that no network was trained for; empty: "+dataset.DemoFeatures+"; "+dataset.EdgesCentred+" for generated digits, which "+dataset.DemoFeatures+" know without any client; "+dataset.Grey+" for --model cnn")
	f.IntVar(&o.classes, "classes", 10, "number of labels of --data DIR, in [2, 1000]: they are 0 to classes-1, or 1 to classes")
	f.BoolVar(&o.transpose, "transpose", false, "swap rows and columns of the pictures of --data DIR, as EMNIST's files need")
	public := f.String("public", "", "public pictures on which the run is planned, "+strings.Join([]string{dataset.Digits, dataset.Textures, dataset.Letters}, ", ")+"; with --features "+dataset.AutoFeatures+" or "+dataset.Formulas+" a comma-separated `list` of those that decide, of which it is planned on the first; empty: digits and textures, and letters for more than 10 --classes")
	f.Uint64Var((*uint64)(&o.seed), "seed", 0, "0: fresh randomness for every client; any other value makes the run repeatable, without any privacy; with --roles 3 but for the seeds that tokens assign")
	f.StringVar(&o.out, "out", "", "`directory` for history.csv, summary.json, accuracy.png and model.npy")
	f.BoolVar(&o.explain, "explain", false, "print what was planned and why; on a terminal a line for each round, too")
	o.Bind(f)
	o.dashboard.Bind(f, "dashboard", "show the run in a browser, at `host:port`, or at a free port of this machine; the page stays until Ctrl-C where there is a terminal")
	request, check := plan.Flags(f)
	o.request = request
	f.IntVar(&o.sites, "sites", 0, fmt.Sprintf("in place of --clients, number of sites, such as hospitals, that share all pictures: ε then protects one picture; with --trust %s or %s; 0: %d with %[1]s, and none with %[2]s", plan.OwnSite, plan.TwoServers, sites))
	f.Lookup("cohort").Usage += fmt.Sprintf("; with --trust %s at most %d unless it is given, so that one machine simulates them in minutes", plan.TwoServers, parties.MostSealed)
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
	if !f.Changed("roles") && (request.Trust == plan.TwoServers || request.Mechanism == hdsum.SharesName) {
		o.Roles = parties.ThreeRoles // two of them are the servers
	}
	if o.Roles == parties.ThreeRoles && !f.Changed("trust") && request.Mechanism != hdsum.SharesName {
		request.Trust = plan.Shuffler // which is one of the parties
	}
	if err := o.hold(request); err != nil {
		return o, err
	}
	parties.Simulate(request)
	if o.public, err = dataset.ParseKinds(*public, o.classes); err != nil {
		return o, err
	}
	switch {
	case strings.Contains(*public, ",") && dataset.Chosen(o.features) == nil:
		return o, fl.Invalid("--public", *public, "must be one kind without --features %s or %s", dataset.AutoFeatures, dataset.Formulas)
	case (o.CheckSteps || o.PublicAlarm) && !dataset.SameLabels(o.public[0], o.classes):
		return o, fl.Invalid("--classes", o.classes, "must be at most 10, for digits, or %d with --public %s, for letters, with --check-steps or --public-alarm: they compare clients with public pictures of the same labels", dataset.LetterClasses, dataset.Letters)
	case dataset.Chosen(o.features) != nil && o.model != "softmax":
		return o, fl.Invalid("--features", o.features, "must be a name with --model %s: only softmax regression is rehearsed", o.model)
	}
	if err := o.Check(request, uint64(o.seed), o.dashboard.Address); err != nil {
		return o, err
	}
	return o, check()
}
