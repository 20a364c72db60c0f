// The inverse of packing.py, and what a figure's table holds at a setting.

const CHARACTERS = Array.from({ length: 92 }, (_, i) => String.fromCharCode(35 + i));
const ALPHABET = CHARACTERS.filter((c) => !"&<\\\x60".includes(c))
  .slice(0, 88)
  .join("");
const LAST = 56; // a character below it ends a number
const MORE = 32; // the base of those that do not

/** Nested arrays of numbers, null where there is nothing. */
export function unpack(value) {
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== "object") return value;
  if ("array" in value) return unpackArray(value.array);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpack(part)]));
}

function unpackArray(packed) {
  const colon = packed.indexOf(":");
  const [axes, decimals = 3] = packed.slice(0, colon).split("/");
  const unit = 10 ** decimals;
  const numbers = wholeNumbers(packed.slice(colon + 1));
  let flat = [];
  for (let i = 0; i < numbers.length; i++) {
    if (numbers[i]) flat.push((numbers[i] - 1) / unit);
    else for (let run = numbers[++i]; run; run--) flat.push(null); // 0 stands for a run of nothing
  }
  const shape = axes.split(",").map(Number);
  for (const n of shape.slice(1).reverse()) {
    flat = Array.from({ length: flat.length / n }, (_, i) => flat.slice(i * n, i * n + n));
  }
  return flat;
}

/** The least significant digit comes first. */
function wholeNumbers(digits) {
  const numbers = [];
  let n = 0;
  let place = 1;
  for (const character of digits) {
    const digit = ALPHABET.indexOf(character);
    if (digit < LAST) {
      numbers.push(n + digit * place);
      n = 0;
      place = 1;
    } else {
      n += (digit - LAST) * place;
      place *= MORE;
    }
  }
  return numbers;
}

/** A function that finds the value of a setting in a figure's table, or undefined where it is not there. */
export function finder({ controls, table }) {
  const names = controls.map((control) => control.name);
  const columns = Object.entries(table).map(([name, held]) => {
    if (!held.controls) return { name, controls: names, values: held };
    return { name, ...held, at: unpack(held.at) }; // a column that depends on a few controls
  });
  const find = ({ controls, values, at }, places) => {
    const row = controls.reduce((sum, name) => sum * places[name].of + places[name].at, 0);
    return unpack(values[at ? at[row] : row]);
  };
  return (state) => {
    const places = {};
    for (const { name, values } of controls) {
      places[name] = { at: values.indexOf(state[name]), of: values.length };
      if (places[name].at < 0) return undefined;
    }
    return Object.fromEntries(columns.map((column) => [column.name, find(column, places)]));
  };
}
