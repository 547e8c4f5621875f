// Softmax regression on pictures of 28×28 pixels, as trainer.NewSoftmax has it: the weights of a pixel for
// all classes, one pixel after the other, and then the biases.
export const side = 28;
export const classes = 10;
const pixels = side * side;

/** Reads what trainer.WriteWeights writes: a NumPy array of float64. */
export function weights(npy) {
  const view = new DataView(npy.buffer, npy.byteOffset, npy.byteLength);
  const start = 10 + view.getUint16(8, true);
  const out = new Float64Array((npy.length - start) / 8);
  if (out.length !== pixels * classes + classes) throw new Error(`weights = ${out.length}: must be ${pixels * classes + classes}`);
  for (let i = 0; i < out.length; i++) out[i] = view.getFloat64(start + 8 * i, true);
  return out;
}

/** The probability of each class. */
export function probabilities(params, picture) {
  const logits = Array.from(params.subarray(pixels * classes));
  picture.forEach((x, i) => {
    if (x !== 0) for (let c = 0; c < classes; c++) logits[c] += x * params[i * classes + c];
  });
  const top = Math.max(...logits);
  const powers = logits.map((z) => Math.exp(z - top));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((p) => p / sum);
}

/** The gradient of the cross-entropy of one picture by the parameters. */
export function gradient(params, picture, label) {
  const errors = probabilities(params, picture).map((p, c) => p - (c === label ? 1 : 0));
  const out = new Float64Array(params.length);
  picture.forEach((x, i) => {
    for (let c = 0; c < classes; c++) out[i * classes + c] = x * errors[c];
  });
  out.set(errors, pixels * classes);
  return out;
}
