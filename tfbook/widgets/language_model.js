// The language model of chapter 12 in the reader's browser: the one place where JavaScript computes. Each
// function is named as its twin in tfbook/numpy; tests/figures/test_language_model.py compares all arrays.
// A matrix is an array of rows, a row a Float64Array: X (T, d) has a row for each token. Q, K, V, S and A
// have a matrix for each of H heads. A function of several steps returns them all: the figure shows them.

function sum(x) {
  return x.reduce((a, b) => a + b, 0);
}

function dot(x, y) {
  let total = 0;
  for (let i = 0; i < x.length; i++) total += x[i] * y[i];
  return total;
}

/** X W: each row of X weighs the rows of W and adds them up. */
export function matmul(X, W) {
  return X.map((x) => {
    const y = new Float64Array(W[0].length);
    for (let k = 0; k < x.length; k++) {
      const [x_k, w] = [x[k], W[k]];
      for (let j = 0; j < y.length; j++) y[j] += x_k * w[j];
    }
    return y;
  });
}

/** Positive numbers that sum to 1; a score of −∞ becomes 0. */
export function softmax(s) {
  const top = Math.max(...s);
  const e = s.map((s_j) => Math.exp(s_j - top));
  const Z = sum(e);
  return e.map((e_j) => e_j / Z);
}

// The series 2/√π e^(−x²) Σ 2ⁿ x²ⁿ⁺¹ / (1·3·5 ⋯ (2n+1)). From 4 on, erf differs from 1 by less than 2e-8.
function erf(x) {
  if (Math.abs(x) > 4) return Math.sign(x);
  let [term, series] = [x, x];
  for (let n = 1; Math.abs(term) > 1e-10 * Math.abs(series); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    series += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * series;
}

/** x Φ(x), elementwise. */
export function gelu(x) {
  return x.map((x_i) => (x_i * (1 + erf(x_i / Math.SQRT2))) / 2);
}

/** True where a query may attend to a key; the last query is at the last key. */
export function causal_mask(T, T_k) {
  return Array.from({ length: T }, (_, i) => Array.from({ length: T_k }, (_, j) => j <= i + T_k - T));
}

/** Q Kᵀ / √d_k. */
export function attention_scores(Q, K) {
  const scale = 1 / Math.sqrt(Q[0].length);
  return Q.map((q) => Float64Array.from(K, (k) => dot(q, k) * scale));
}

/** A masked score becomes −∞ before the softmax. */
export function attention_weights(S, mask) {
  return S.map((s, i) => softmax(s.map((s_j, j) => (mask[i][j] ? s_j : -Infinity))));
}

export function weighted_mean(A, V) {
  return matmul(A, V);
}

export function scaled_dot_product_attention(Q, K, V, mask) {
  const S = attention_scores(Q, K);
  const A = attention_weights(S, mask);
  return { S, A, Y: weighted_mean(A, V) };
}

/** Turn channels (2i, 2i + 1) of the token at position p by p / base^(2i / d_k). */
export function rotary(X, positions, base = 10000) {
  return X.map((x, t) => {
    const turned = new Float64Array(x.length);
    for (let i = 0; i < x.length; i += 2) {
      const angle = positions[t] / base ** (i / x.length);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      turned[i] = x[i] * cos - x[i + 1] * sin;
      turned[i + 1] = x[i] * sin + x[i + 1] * cos;
    }
    return turned;
  });
}

/** H matrices (T, d_k): head h has the h-th run of channels of every token. */
export function split_heads(X, H) {
  const d_k = X[0].length / H;
  return Array.from({ length: H }, (_, h) => X.map((x) => x.subarray(h * d_k, (h + 1) * d_k)));
}

export function merge_heads(heads) {
  return heads[0].map((_, t) => Float64Array.from(heads.flatMap((head) => [...head[t]])));
}

/** Keys and values of what one layer has read; reading adds to them. */
export function key_value_cache(H) {
  const none = () => Array.from({ length: H }, () => []);
  return { K: none(), V: none() };
}

export function multi_head_attention(X, W_Q, W_K, W_V, W_O, H, cache) {
  const T_read = cache.K[0].length;
  const positions = X.map((_, t) => T_read + t);
  const [Q_new, K_new, V_new] = [W_Q, W_K, W_V].map((W) => split_heads(matmul(X, W), H));
  const Q = Q_new.map((head) => rotary(head, positions)); // H × (T, d_k)
  const K = K_new.map((head, h) => [...cache.K[h], ...rotary(head, positions)]); // H × (T_k, d_k)
  const V = V_new.map((head, h) => [...cache.V[h], ...head]); // H × (T_k, d_v)
  Object.assign(cache, { K, V });
  const mask = causal_mask(X.length, T_read + X.length);
  const heads = Q.map((_, h) => scaled_dot_product_attention(Q[h], K[h], V[h], mask));
  const [S, A, Y] = ["S", "A", "Y"].map((name) => heads.map((head) => head[name]));
  const merged = merge_heads(Y);
  return { Q, K, V, S, A, merged, attended: matmul(merged, W_O) };
}

/** (x − mean) / √(variance + ε) · γ + β, token by token. */
export function layer_norm(X, gamma, beta, eps = 1e-5) {
  return X.map((x) => {
    const average = sum(x) / x.length;
    const centred = x.map((x_i) => x_i - average);
    const deviation = Math.sqrt(dot(centred, centred) / x.length + eps);
    return centred.map((c, i) => (c / deviation) * gamma[i] + beta[i]);
  });
}

export function feed_forward(X, W_1, b_1, W_2, b_2, activation = gelu) {
  const hidden = matmul(X, W_1).map((h) => activation(h.map((h_i, i) => h_i + b_1[i]))); // (T, d_ff)
  return { hidden, output: matmul(hidden, W_2).map((y) => y.map((y_i, i) => y_i + b_2[i])) };
}

/** X + f(X), where f(X) is already there. */
export function residual(X, F) {
  return X.map((x, t) => x.map((x_i, i) => x_i + F[t][i]));
}

/** Pre-norm: each of the two functions reads a normalised copy of what it adds to. */
export function transformer_layer(X, P, H, cache) {
  const normal_1 = layer_norm(X, P.gamma_1, P.beta_1);
  const attention = multi_head_attention(normal_1, P.W_Q, P.W_K, P.W_V, P.W_O, H, cache);
  const Z = residual(X, attention.attended);
  const normal_2 = layer_norm(Z, P.gamma_2, P.beta_2);
  const mlp = feed_forward(normal_2, P.W_1, P.b_1, P.W_2, P.b_2);
  return { normal_1, ...attention, Z, normal_2, ...mlp, Y: residual(Z, mlp.output) };
}

export function embed(tokens, E) {
  return tokens.map((token) => E[token]);
}

/** Logits of the next token: each token's vector, normalised, times every row of E. */
export function unembed(X, P) {
  const normal_f = layer_norm(X, P.gamma_f, P.beta_f);
  return { normal_f, logits: normal_f.map((x) => Float64Array.from(P.E, (e) => dot(x, e))) };
}

/** Read tokens after those in the caches, one of each layer. */
export function language_model(tokens, P, H, caches = P.layers.map(() => key_value_cache(H))) {
  const embedded = embed(tokens, P.E);
  const layers = [];
  let X = embedded;
  for (const [l, layer] of P.layers.entries()) {
    layers[l] = transformer_layer(X, layer, H, caches[l]);
    X = layers[l].Y;
  }
  return { embedded, layers, ...unembed(X, P) };
}

/** Temperature divides the logits; top-p keeps the fewest likeliest tokens that have p of the probability. */
export function token_distribution(logits, temperature = 1, top_p = 1) {
  const top = Math.max(...logits);
  const likeliest = logits.indexOf(top);
  if (temperature === 0) return logits.map((_, i) => (i === likeliest ? 1 : 0));
  const p = softmax(logits.map((z) => (z - top) / temperature));
  let likelier = 0;
  for (const i of [...p.keys()].sort((i, j) => logits[j] - logits[i])) {
    const p_i = p[i];
    if (top_p < 1 && likelier >= top_p) p[i] = 0;
    likelier += p_i;
  }
  const kept = sum(p);
  return p.map((p_i) => p_i / kept);
}

/** Draw a token; `random` gives a number from 0 to 1, 1 excluded. */
export function sample(p, random = Math.random) {
  const threshold = random() * sum(p);
  let up_to = 0;
  return p.findIndex((p_i) => {
    up_to += p_i;
    return up_to > threshold;
  });
}
