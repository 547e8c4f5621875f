package jetstream

import (
	"cmp"
	"log/slog"
	"regexp"

	"github.com/hushgrad/hushgrad/fl"
)

// Config says how a cluster is laid out. The zero value of every field but Shards means its
// default. All processes of a cluster need the same values, except for Logger.
type Config struct {
	// Name begins the names of streams and subjects: 1 to 32 characters of [A-Za-z0-9_-].
	// Default "hushgrad".
	Name string
	// Shards is the number of partitions, 1 to 256. It is fixed when the cluster is first used. 0 is for a
	// shuffler, which waits for the members to make the cluster and takes their numbers.
	Shards int
	// Replicas is on how many nodes everything is kept: 1, 3 or 5. Default 3.
	Replicas int
	// Lanes is the number of streams for reports, 1 to 8. It is fixed like Shards. Default 3, and 1
	// with one replica.
	Lanes int
	// Logger receives what happens to shards, never a report. Default slog.Default().
	Logger *slog.Logger
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

func (c Config) withDefaults() (Config, error) {
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Name = cmp.Or(c.Name, "hushgrad")
	c.Replicas = cmp.Or(c.Replicas, 3)
	c.Lanes = cmp.Or(c.Lanes, min(3, c.Replicas))
	switch {
	case !validName.MatchString(c.Name):
		return c, fl.Invalid("Name", c.Name, "must be 1 to 32 characters of [A-Za-z0-9_-]")
	case c.Shards < 0 || c.Shards > maxShards:
		return c, fl.Invalid("Shards", c.Shards, "must be in [1, %d]", maxShards)
	case c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5:
		return c, fl.Invalid("Replicas", c.Replicas, "must be 1, 3 or 5")
	case c.Lanes < 0 || c.Lanes > maxLanes:
		return c, fl.Invalid("Lanes", c.Lanes, "must be in [1, %d]", maxLanes)
	}
	return c, nil
}

const (
	maxShards = 256
	maxLanes  = 8
)
