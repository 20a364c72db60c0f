// A text as a language model reads it. Keys and values of what it has read are kept, so that one more
// character costs the work of one token.

import { key_value_cache, language_model, softmax } from "./language_model.js";
import { range } from "./numbers.js";

/** Where the model begins to read n tokens: `context` in your_text.py. */
function start(n, T) {
  return Math.max(0, Math.ceil((n - T) / (T / 2))) * (T / 2);
}

// A function from a text to what was read, {tokens, first, unknown}, and what the model made of it: logits
// and residuals, those of the embedding and of each layer, with a row for each token; A with a matrix for
// each head; bits, what each token but the first cost.
export function textReader(P, H, T, vocabulary) {
  const token_of = new Map([...vocabulary].map((character, token) => [character, token]));
  const L = P.layers.length;
  let kept = nothing();

  function nothing() {
    const caches = P.layers.map(() => key_value_cache(H));
    return {
      caches,
      tokens: [],
      bits: [],
      logits: [],
      residuals: range(L + 1).map(() => []),
      A: range(L * H).map(() => []),
    };
  }

  function readMore(tokens) {
    const { embedded, layers, logits } = language_model(tokens, P, H, kept.caches);
    kept.tokens.push(...tokens);
    kept.logits.push(...logits);
    for (let t = kept.bits.length; t < kept.tokens.length - 1; t++)
      kept.bits.push(-Math.log2(softmax(kept.logits[t])[kept.tokens[t + 1]]));
    for (const [l, X] of [embedded, ...layers.map(({ Y }) => Y)].entries()) kept.residuals[l].push(...X);
    for (const [i, rows] of layers.flatMap(({ A }) => A).entries()) kept.A[i].push(...rows);
  }

  return (text) => {
    const known = [...text].filter((character) => token_of.has(character));
    const unknown = [...new Set(text)].filter((character) => !token_of.has(character));
    const first = start(known.length, T);
    const tokens = known.slice(first).map((character) => token_of.get(character));
    if (kept.tokens.some((token, t) => token !== tokens[t])) kept = nothing();
    const fresh = tokens.slice(kept.tokens.length);
    if (fresh.length) readMore(fresh);
    return { ...kept, first, unknown };
  };
}
