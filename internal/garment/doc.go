// Package garment draws clothes, shoes and bags of textured cloth as small grey pictures.
// Use it wherever textured pictures of things must come from a law alone and not from a file.
// Start with [NewBrush] and [Brush.Draw].
//
// Each of ten classes has a cut, which is a silhouette with random measures, seams drawn on it, and
// habits: how often which cloth is taken. Measures of neighbouring classes overlap: a
// shirt's sleeves may be as long as a pullover's. So no model separates all classes.
//
// The law was written down without a look at pictures of clothes. Its ranges were set so that a linear model
// on oriented edges is right for about 80 % of the pictures without privacy.
package garment

// Side is the height and width of a picture, in pixels.
const Side = 28
