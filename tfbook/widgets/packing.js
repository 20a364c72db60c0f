
// ---- the inverse of packing.py ----

const ALPHABET = Array.from({ length: 92 }, (_, i) => String.fromCharCode(35 + i)).filter((c) => !"&<\\`".includes(c)).join("").slice(0, 88);

function unpack(value) { // nested arrays of numbers, null where there is nothing
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== "object") return value;
  if (!("array" in value)) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpack(part)]));
  const colon = value.array.indexOf(":"), digits = value.array.slice(colon + 1);
  const [axes, decimals = 3] = value.array.slice(0, colon).split("/"), unit = 10 ** decimals;
  let at = 0, flat = [];
  const number = () => {
    for (let n = 0, place = 1; ; place *= 32) {
      const digit = ALPHABET.indexOf(digits[at++]);
      if (digit < 56) return n + digit * place;
      n += (digit - 56) * place;
    }
  };
  while (at < digits.length) {
    const n = number();
    if (n) flat.push((n - 1) / unit);
    else for (let run = number(); run; run--) flat.push(null);
  }
  const shape = axes.split(",").map(Number);
  for (const n of shape.slice(1).reverse()) flat = Array.from({ length: flat.length / n }, (_, i) => flat.slice(i * n, i * n + n));
  return flat;
}

