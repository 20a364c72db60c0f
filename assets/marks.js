// What a reader has done: marks of chapters and exercises, kept in this browser alone. Without a script nothing is missing.
{
  const KEY = "tfbook-progress", NAME = /^(chapter-\d\d|exercise-[\w-]+)$/;
  const EXERCISES = window.tfbookExercises ?? {}; // of each chapter, by its number; the build puts them on every page
  const chapterOf = (address) => /\/(\d\d)-[^/]*\.html$/.exec(new URL(address, location).pathname)?.[1];
  const here = chapterOf(location.href);

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      if (typeof value === "function") node.addEventListener(name, value);
      else node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // ---- what is kept ----

  let refused = false, memory = null; // where the browser keeps nothing, marks last as long as the page
  const kept = () => {
    try { if (!refused) return localStorage.getItem(KEY); } catch { refused = true; }
    return memory;
  };
  const keep = (text) => {
    try { localStorage.setItem(KEY, text); } catch { refused = true; }
    memory = text;
  };
  const written = (done) => JSON.stringify({ tfbook: "progress", version: 1, done: [...done].sort() }, null, 1);
  const understood = (text) => { // the marks in a text; null where it holds none of this book's
    try {
      const { tfbook, done } = JSON.parse(text);
      return tfbook === "progress" ? new Set(done.filter((name) => NAME.test(name))) : null;
    } catch { return null; }
  };
  const marks = () => understood(kept()) ?? new Set();
  const reached = (chapter, done) => // whether the chapter is marked, and how many of its exercises
    [done.has(`chapter-${chapter}`), EXERCISES[chapter].filter((name) => done.has(`exercise-${name}`)).length];
  const share = (chapter, n) => `${n} of ${EXERCISES[chapter].length} exercises`;

  // ---- marks on the page ----

  const bar = document.querySelector(".tfb-filter"); // on the page of all exercises
  const voice = bar?.querySelector(".tfb-said") ?? make("p", { role: "status", class: "visually-hidden" });
  const NOTE = "This browser keeps nothing for this page: marks last until you leave it, unless you export them.";
  const say = (text) => { voice.textContent = refused ? `${text} ${NOTE}` : text; };

  function toggle(name) {
    const done = marks(); // read again: another tab may have written
    if (!done.delete(name)) done.add(name);
    keep(written(done));
    show();
    const [, n] = here ? reached(here, done) : [];
    say(`${done.has(name) ? "Done" : "Not done"}: ${spoken(name)}.${here ? ` ${share(here, n)} of this chapter.` : ""}`);
  }

  const spoken = (name) => (name.startsWith("chapter") ? "this chapter" : name.replace(/^exercise-/, "").replaceAll("-", " "));
  const button = (name, text, label) =>
    make("button", { type: "button", class: "tfb-mark", "data-mark": name, "aria-label": label, click: () => toggle(name) }, text);

  const twice = (seen, heard, look = "") =>
    [make("span", { "aria-hidden": "true", class: look }, seen), make("span", { class: "visually-hidden" }, heard)];

  function placeMarks() {
    for (const box of document.querySelectorAll(".tfb-exercise[id]")) box.prepend(button(box.id, "Done", `Done: ${spoken(box.id)}`));
    for (const link of document.querySelectorAll(".bd-sidebar-primary nav a, .bd-article table a")) {
      const chapter = chapterOf(link.href);
      if (!EXERCISES[chapter] || link.hash) continue;
      link[link.closest("table") ? "after" : "append"](make("span", { class: "tfb-share", "data-chapter": chapter }));
    }
    if (EXERCISES[here])
      document.querySelector(".bd-article").append(make("div", { class: "tfb-end" },
        button(`chapter-${here}`, "Chapter done", "Chapter done"), make("span", { class: "tfb-share", "data-chapter": here }),
        make("a", { href: "solutions.html#open" }, "Exercises left to do"), make("p", { class: "tfb-note" })));
    if (!bar) document.body.append(voice);
  }

  function show() {
    const done = marks();
    for (const mark of document.querySelectorAll(".tfb-mark")) mark.setAttribute("aria-pressed", done.has(mark.dataset.mark));
    for (const mark of document.querySelectorAll(".tfb-share")) {
      const [whole, n] = reached(mark.dataset.chapter, done), text = share(mark.dataset.chapter, n);
      mark.textContent = mark.closest("nav") ? "" : text;
      if (n && mark.closest("nav")) mark.append(...twice(text.replace(/ of (\d+).*/, "/$1"), `, ${text}`));
      if (whole) mark.append(...twice("✓", ", done", "tfb-whole"));
    }
    for (const note of document.querySelectorAll(".tfb-note")) note.textContent = refused ? NOTE : "";
  }

  // ---- the page of all exercises: a filter whose state stands in the address, and the marks as a file ----

  function placeFilter() {
    const levels = [...bar.querySelectorAll("[data-level]")], open = bar.querySelector("[data-open]");
    const entries = [...document.querySelectorAll(".tfb-entry")];
    const pressed = (node) => node.getAttribute("aria-pressed") === "true";

    const filter = () => {
      const wanted = levels.filter(pressed).map((node) => node.dataset.level), done = marks();
      const fits = (level) => !wanted.length || wanted.includes(level);
      const waits = (entry) => !pressed(open) || !done.has(entry.querySelector(".tfb-exercise").id);
      for (const entry of entries) entry.hidden = !fits(entry.dataset.level) || !waits(entry);
      for (const part of new Set(entries.map((entry) => entry.closest("section")))) {
        part.hidden = !part.querySelector(".tfb-entry:not([hidden])");
        const item = document.querySelector(`.page-toc a[href="#${part.id}"]`)?.parentElement;
        if (item) item.hidden = part.hidden;
      }
      bar.querySelector("output").textContent = `${entries.filter((entry) => !entry.hidden).length} of ${entries.length} exercises`;
    };
    const follow = () => { // #level=2,3&open
      const words = new URLSearchParams(location.hash.slice(1));
      for (const node of levels) node.setAttribute("aria-pressed", (words.get("level") ?? "").split(",").includes(node.dataset.level));
      open.setAttribute("aria-pressed", words.has("open"));
      filter();
    };
    const choose = (node) => {
      node.setAttribute("aria-pressed", !pressed(node));
      const wanted = levels.filter(pressed).map((one) => one.dataset.level).join();
      const words = [wanted && `level=${wanted}`, pressed(open) && "open"].filter(Boolean).join("&");
      history.replaceState(null, "", words ? `#${words}` : location.href.split("#")[0]);
      filter();
    };
    const act = (done, text) => { keep(written(done)); show(); filter(); say(text); };
    const on = (name, listen, event = "click") => bar.querySelector(`[data-do=${name}]`).addEventListener(event, listen);

    for (const node of [...levels, open]) node.addEventListener("click", () => choose(node));
    on("export", () => {
      const address = URL.createObjectURL(new Blob([written(marks())], { type: "application/json" }));
      make("a", { href: address, download: "tfbook-marks.json" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    });
    on("import", async ({ target }) => {
      const read = understood(await target.files[0]?.text()), done = marks();
      const fresh = [...(read ?? [])].filter((name) => !done.has(name));
      const found = read ? `${read.size} marks read, ${fresh.length} of them new.` : "This file holds no marks of this book.";
      act(new Set([...done, ...fresh]), found);
      target.value = ""; // so that the same file can be chosen again
    }, "change");
    on("clear", () => {
      const n = marks().size;
      if (n && confirm(`Clear all ${n} marks? Export them first if you may want them back.`)) act(new Set(), `${n} marks cleared.`);
    });
    addEventListener("hashchange", follow);
    follow();
  }

  placeMarks();
  show();
  if (bar) placeFilter();
  addEventListener("storage", ({ key }) => (key === KEY || key === null) && show()); // another tab
  addEventListener("pageshow", ({ persisted }) => persisted && show()); // back from another page
}
