// Before a page goes to the printer: the light theme, equations no wider than the paper, and under
// each question the letter of its answer.
{
  // Widths of the letter m between the margins, less an equation's number and what formulas are larger there.
  const COLUMN = 39;
  const LETTERS = "abcdefghijklm";

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
    for (const math of document.querySelectorAll(".bd-article div.math mjx-container")) {
      const letter = parseFloat(getComputedStyle(math.parentElement).fontSize);
      const width = math.firstElementChild.getBoundingClientRect().width / letter;
      math.style.setProperty("--tfb-fit", Math.min(1, COLUMN / width));
    }
  }

  /** jupyterquiz shuffles its answers, so their letters are known only here. */
  function keyQuizzes() {
    for (const box of document.querySelectorAll(".Quiz .Answer:has([data-correct])")) {
      const answers = [...box.querySelectorAll("[data-correct]")];
      const right = [...LETTERS].filter((_, at) => answers[at]?.dataset.correct === "true");
      const key = document.createElement("p");
      key.className = "tfb-on-paper";
      key.textContent = `Right: ${right.join(", ")}`;
      box.after(key);
    }
  }

  function dropKeys() {
    for (const key of document.querySelectorAll(".tfb-on-paper")) key.remove();
  }

  addEventListener("beforeprint", () => {
    turnLight();
    fitEquations();
    keyQuizzes();
  });
  addEventListener("afterprint", () => {
    turnBack();
    dropKeys();
  });
}
