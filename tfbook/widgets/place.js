// A figure on a page with no kernel: a stand-in for the model that holds what Python put there, and
// the setting in the address.

import { render } from "./base.js";

const PAUSE = 300; // browsers let an address change a few times a second only

/** What #figure=MaskExplorer&cached=2 asks of that figure, or null; what the page cannot show is left out. */
function addressed(id, { controls }) {
  const words = new URLSearchParams(location.hash.slice(1));
  const asksFor = words.has("figure")
    ? words.get("figure") === id
    : isAlone() && controls.some((c) => words.has(c.name));
  if (!asksFor) return null;
  const found = controls.map(({ name, values }) => [
    name,
    values.find((value) => String(value) === words.get(name)),
  ]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

/** Then its name may be left out of the address. */
function isAlone() {
  return document.querySelectorAll("[data-figure]").length === 1;
}

function pageModel(held) {
  const listeners = {};
  return {
    get: (key) => held[key],
    set(key, value) {
      held[key] = value;
      for (const listen of listeners[`change:${key}`] ?? []) listen();
    },
    on(event, listen) {
      listeners[event] ??= [];
      listeners[event].push(listen);
    },
    off() {},
    save_changes() {},
    send() {},
  };
}

/** Put a figure into the first element of its name that no script has taken. */
export function place(figure, name, held) {
  const same = [...document.querySelectorAll(`[data-figure="${name}"]`)];
  const at = same.findIndex((node) => !node.dataset.live);
  const el = same[at];
  const id = at ? `${name}.${at + 1}` : name; // the second of its kind has an address of its own
  const model = pageModel(held);
  el.dataset.live = "page";

  function write() {
    history.replaceState(null, "", `#${new URLSearchParams({ figure: id, ...held.state })}`);
  }

  function link() {
    write(); // so the address bar has it in any case
    const copying = navigator.clipboard?.writeText(location.href);
    return copying?.then(
      () => true,
      () => false,
    );
  }

  function follow() {
    const setting = addressed(id, held.spec);
    if (setting) model.set("state", { ...held.state, ...setting });
    return setting;
  }

  let waiting;
  function keepAddress() {
    if (waiting) return;
    waiting = setTimeout(() => {
      waiting = undefined;
      if (addressed(id, held.spec)) write();
    }, PAUSE);
  }

  const linked = follow();
  render(figure, { model, el, link });
  model.on("change:state", keepAddress);
  addEventListener("hashchange", follow);
  if (linked) el.scrollIntoView();
}
