// What a reader has done: marks of chapters and exercises, kept in this browser alone.
// Without a script nothing is missing.
{
  const KEY = "tfbook-progress";
  const NAME = /^(chapter-\d\d|exercise-[\w-]+)$/;
  const NOTE =
    "This browser keeps nothing for this page: marks last until you leave it, unless you export them.";
  const RENUMBERED = { "09": "10", 10: "11", 11: "12", 12: "14" }; // chapters, since marks of version 1
  const EXERCISES = window.tfbookExercises ?? {}; // of each chapter, by its number, which the build puts here
  const here = chapterOf(location.href);

  function chapterOf(address) {
    return /\/(\d\d)-[^/]*\.html$/.exec(new URL(address, location).pathname)?.[1];
  }

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // ---- what is kept ----

  let refused = false;
  let memory = null; // where the browser keeps nothing, marks last as long as the page

  function kept() {
    try {
      if (!refused) return localStorage.getItem(KEY);
    } catch {
      refused = true;
    }
    return memory;
  }

  function keep(done) {
    memory = written(done);
    try {
      localStorage.setItem(KEY, memory);
    } catch {
      refused = true;
    }
  }

  function written(done) {
    return JSON.stringify({ tfbook: "progress", version: 2, done: [...done].sort() }, null, 1);
  }

  /** The marks in a text; null where it holds none of this book's. */
  function understood(text) {
    try {
      const { tfbook, version, done } = JSON.parse(text);
      if (tfbook !== "progress") return null;
      const names = done.filter((name) => NAME.test(name));
      return new Set(version === 1 ? names.map(renumbered) : names);
    } catch {
      return null;
    }
  }

  function renumbered(name) {
    return name.replace(/^(chapter-)(\d\d)$/, (_, word, number) => word + (RENUMBERED[number] ?? number));
  }

  function marks() {
    return understood(kept()) ?? new Set();
  }

  // ---- marks on the page ----

  const bar = document.querySelector(".tfb-filter"); // on the page of all exercises
  const voice = bar?.querySelector(".tfb-said") ?? make("p", { role: "status", class: "visually-hidden" });

  function say(text) {
    voice.textContent = refused ? `${text} ${NOTE}` : text;
  }

  function spoken(name) {
    return name.startsWith("chapter") ? "this chapter" : name.replace(/^exercise-/, "").replaceAll("-", " ");
  }

  function numberDone(chapter, done) {
    return EXERCISES[chapter].filter((name) => done.has(`exercise-${name}`)).length;
  }

  function shareDone(chapter, done) {
    return `${numberDone(chapter, done)} of ${EXERCISES[chapter].length} exercises`;
  }

  function toggle(name) {
    const done = marks(); // read again: another tab may have written
    if (!done.delete(name)) done.add(name);
    keep(done);
    show();
    const share = here ? ` ${shareDone(here, done)} of this chapter.` : "";
    say(`${done.has(name) ? "Done" : "Not done"}: ${spoken(name)}.${share}`);
  }

  function markButton(name, text, label) {
    const look = { type: "button", class: "tfb-mark", "data-mark": name, "aria-label": label };
    const button = make("button", look, text);
    button.addEventListener("click", () => toggle(name));
    return button;
  }

  function shareOf(chapter) {
    return make("span", { class: "tfb-share", "data-chapter": chapter });
  }

  function placeMarks() {
    for (const box of document.querySelectorAll(".tfb-exercise[id]")) {
      box.prepend(markButton(box.id, "Done", `Done: ${spoken(box.id)}`));
    }
    for (const link of document.querySelectorAll(".bd-sidebar-primary nav a, .bd-article table a")) {
      const chapter = chapterOf(link.href);
      if (!EXERCISES[chapter] || link.hash || link.closest(".tfb-ledger")) continue;
      if (link.closest("table")) link.after(shareOf(chapter));
      else link.append(shareOf(chapter));
    }
    if (EXERCISES[here]) document.querySelector(".bd-article").append(chapterEnd());
    if (!bar) document.body.append(voice);
  }

  function chapterEnd() {
    const mark = markButton(`chapter-${here}`, "Chapter done", "Chapter done");
    const rest = make("a", { href: "solutions.html#open" }, "Exercises left to do");
    return make("div", { class: "tfb-end" }, mark, shareOf(here), rest, make("p", { class: "tfb-note" }));
  }

  function show() {
    const done = marks();
    for (const mark of document.querySelectorAll(".tfb-mark")) {
      mark.setAttribute("aria-pressed", done.has(mark.dataset.mark));
    }
    for (const share of document.querySelectorAll(".tfb-share")) showShare(share, done);
    for (const note of document.querySelectorAll(".tfb-note")) note.textContent = refused ? NOTE : "";
  }

  function showShare(share, done) {
    const { chapter } = share.dataset;
    const text = shareDone(chapter, done);
    const short = share.closest("nav");
    share.textContent = short ? "" : text;
    if (short && numberDone(chapter, done)) {
      share.append(...seenAndHeard(text.replace(/ of (\d+).*/, "/$1"), `, ${text}`));
    }
    if (done.has(`chapter-${chapter}`)) share.append(...seenAndHeard("✓", ", done", "tfb-whole"));
  }

  function seenAndHeard(seen, heard, look = "") {
    const drawn = make("span", { "aria-hidden": "true", class: look }, seen);
    return [drawn, make("span", { class: "visually-hidden" }, heard)];
  }

  // ---- the page of all exercises: a filter whose state stands in the address, and the marks as a file ----

  const isPressed = (node) => node.getAttribute("aria-pressed") === "true";

  function placeFilter() {
    const levels = [...bar.querySelectorAll("[data-level]")];
    const open = bar.querySelector("[data-open]");
    const entries = [...document.querySelectorAll(".tfb-entry")];
    const sections = new Set(entries.map((entry) => entry.closest("section")));

    const wantedLevels = () => levels.filter(isPressed).map((node) => node.dataset.level);

    function filter() {
      const wanted = wantedLevels();
      const done = marks();
      for (const entry of entries) {
        const fits = !wanted.length || wanted.includes(entry.dataset.level);
        const waits = !isPressed(open) || !done.has(entry.querySelector(".tfb-exercise").id);
        entry.hidden = !fits || !waits;
      }
      for (const section of sections) {
        section.hidden = !section.querySelector(".tfb-entry:not([hidden])");
        const item = document.querySelector(`.page-toc a[href="#${section.id}"]`)?.parentElement;
        if (item) item.hidden = section.hidden;
      }
      const shown = entries.filter((entry) => !entry.hidden).length;
      bar.querySelector("output").textContent = `${shown} of ${entries.length} exercises`;
    }

    /** An address that ends in #level=2,3&open. */
    function follow() {
      const words = new URLSearchParams(location.hash.slice(1));
      const wanted = (words.get("level") ?? "").split(",");
      for (const node of levels) node.setAttribute("aria-pressed", wanted.includes(node.dataset.level));
      open.setAttribute("aria-pressed", words.has("open"));
      filter();
    }

    function choose(node) {
      node.setAttribute("aria-pressed", !isPressed(node));
      const wanted = wantedLevels().join();
      const words = [wanted && `level=${wanted}`, isPressed(open) && "open"].filter(Boolean).join("&");
      history.replaceState(null, "", words ? `#${words}` : location.href.split("#")[0]);
      filter();
    }

    for (const node of [...levels, open]) node.addEventListener("click", () => choose(node));
    addEventListener("hashchange", follow);
    placeFile(filter);
    follow();
  }

  /** `filter` is called when the marks have changed. */
  function placeFile(filter) {
    const on = (name, event, listen) =>
      bar.querySelector(`[data-do=${name}]`).addEventListener(event, listen);
    const replace = (done, text) => {
      keep(done);
      show();
      filter();
      say(text);
    };
    on("export", "click", () => {
      const address = URL.createObjectURL(new Blob([written(marks())], { type: "application/json" }));
      make("a", { href: address, download: "tfbook-marks.json" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    });
    on("import", "change", async ({ target }) => {
      const read = understood(await target.files[0]?.text());
      const done = marks();
      const fresh = [...(read ?? [])].filter((name) => !done.has(name));
      const found = `${read?.size} marks read, ${fresh.length} of them new.`;
      replace(new Set([...done, ...fresh]), read ? found : "This file holds no marks of this book.");
      target.value = ""; // so that the same file can be chosen again
    });
    on("clear", "click", () => {
      const n = marks().size;
      const question = `Clear all ${n} marks? Export them first if you may want them back.`;
      if (n && confirm(question)) replace(new Set(), `${n} marks cleared.`);
    });
  }

  placeMarks();
  show();
  if (bar) placeFilter();
  addEventListener("storage", ({ key }) => (key === KEY || key === null) && show()); // another tab
  addEventListener("pageshow", ({ persisted }) => persisted && show()); // back from another page
}
