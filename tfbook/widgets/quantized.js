// The inverse of quantized.py: numbers from 8 bits each.

/** A matrix, an array of its rows, from one scale a row and the codes of all; a vector from one scale. */
export function dequantize({ codes, scale }) {
  const bytes = Int8Array.from(atob(codes), (character) => character.charCodeAt(0));
  const row = (s, part) => Float64Array.from(part, (code) => code * s);
  if (!Array.isArray(scale)) return row(scale, bytes);
  const n = bytes.length / scale.length;
  return scale.map((s, i) => row(s, bytes.subarray(i * n, (i + 1) * n)));
}

/** The parameters of a language model by their names, those of its layers in P.layers. */
export function parameters({ layers, ...own }) {
  const all = (packed) =>
    Object.fromEntries(Object.entries(packed).map(([name, one]) => [name, dequantize(one)]));
  return { ...all(own), layers: layers.map(all) };
}
