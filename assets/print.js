// Before a page goes to the printer: the light theme, equations no wider than the paper, and under each question the letter of its answer.

const COLUMN = 39; // widths of the letter m between the margins, less an equation's number and what formulas are larger there

const page = document.documentElement;
let theme;

/** The theme as it was before printing comes back after it; the live figures follow by themselves. */
function turnLight() {
  theme ??= page.dataset.theme;
  page.dataset.theme = "light";
}

function turnBack() {
  if (theme) page.dataset.theme = theme;
  theme = undefined;
}

/** What is printed cannot scroll: a wide equation is made smaller. */
function fitEquations() {
  for (const math of document.querySelectorAll('.bd-article div.math mjx-container')) {
    const width = math.firstElementChild.getBoundingClientRect().width / parseFloat(getComputedStyle(math.parentElement).fontSize);
    math.style.setProperty("--tfb-fit", Math.min(1, COLUMN / width));
  }
}

/** jupyterquiz shuffles its answers, so their letters are known only here. */
function keyQuizzes() {
  for (const answers of document.querySelectorAll(".Quiz .Answer:has([data-correct])")) {
    const right = [...answers.querySelectorAll("[data-correct]")].flatMap((answer, at) => (answer.dataset.correct === "true" ? "abcdefghijklm"[at] : []));
    const key = document.createElement("p");
    key.className = "tfb-on-paper";
    key.textContent = `Right: ${right.join(", ")}`;
    answers.after(key);
  }
}

function dropKeys() {
  for (const key of document.querySelectorAll(".tfb-on-paper")) key.remove();
}

addEventListener("beforeprint", () => { turnLight(); fitEquations(); keyQuizzes(); });
addEventListener("afterprint", () => { turnBack(); dropKeys(); });
