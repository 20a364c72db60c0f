// Numbers as they are written, and within bounds.

export function range(n) {
  return Array.from({ length: n }, (_, i) => i);
}

export function clamp(n, least, most) {
  return Math.min(Math.max(n, least), most);
}

/** 12345 as 12 345, with thin spaces that do not break. */
export function thousands(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** The digits of an exponent. */
export function raised(n) {
  return [...String(n)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
}
