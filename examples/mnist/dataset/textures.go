package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/internal/garment"
)

// drawTextures is Load for the source Textures.
func drawTextures(ctx context.Context, o Options) (*Data, error) {
	o.logf("drawing clothes, shoes and bags")
	return drawBoth(ctx, o, textures(garment.Classes), fmt.Sprintf("textured clothes, shoes and bags drawn by a law with seed %d: no photographs, and accuracy on them is not comparable with that on any other set", o.Seed))
}

// textures is the law of textured pictures of the first classes.
func textures(classes int) law {
	return law{"textur/1", classes, func() painter {
		b := garment.NewBrush()
		return func(dst []uint8, rng *rand.Rand) int {
			class := rng.IntN(classes)
			b.Draw(dst, class, rng)
			return class
		}
	}}
}
