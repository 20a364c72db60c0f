// Small repairs of what the book's tools leave undone: names for assistive technology, and wide
// content that a keyboard can scroll.
{
  const WIDE =
    "div.math, mjx-container, .table-wrapper, .tfb-scroll, .cell_output .output, pre, .bd-article table";

  /** A region that scrolls must be reachable with the keyboard; one that does not must not be in its way. */
  function letKeyboardScroll() {
    for (const math of document.querySelectorAll('.bd-article mjx-container:not([display="true"])')) {
      const room = math.closest("p, li, td, th, dd, div")?.clientWidth ?? Infinity;
      math.classList.toggle("tfb-wide", math.getBoundingClientRect().width > room);
    }
    for (const box of document.querySelectorAll(WIDE)) {
      const scrolls =
        box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
      if (scrolls) box.tabIndex = 0;
      else if (box.getAttribute("tabindex") === "0") box.removeAttribute("tabindex");
    }
  }

  /** jupyterquiz: each question is a group named by its text, and its feedback is read out. */
  function nameQuizzes() {
    for (const quiz of document.querySelectorAll(".Quiz")) {
      const question = quiz.querySelector("[id^=quizQn]");
      const answers = quiz.querySelector(".Answer");
      const field = quiz.querySelector("input.Input-text");
      if (question && answers) {
        answers.setAttribute("role", "radiogroup");
        answers.setAttribute("aria-labelledby", question.id);
      }
      if (question && field) field.setAttribute("aria-labelledby", question.id);
      quiz.querySelector(".Feedback")?.setAttribute("aria-live", "polite");
    }
  }

  /** A bibliography is announced as a list, so its entries have to be announced as items. */
  function nameCitations() {
    for (const entry of document.querySelectorAll("[role=list] > [role=doc-biblioentry]"))
      entry.setAttribute("role", "listitem");
  }

  /**
   * Formulas show when they are typeset and their fonts are here, so that nothing moves twice.
   * Without MathJax their source shows.
   */
  async function showFormulas() {
    await window.MathJax?.startup?.promise;
    document.body.getBoundingClientRect(); // a layout asks for the fonts
    await document.fonts.ready;
    document.documentElement.classList.add("tfb-typeset");
    letKeyboardScroll();
  }

  /** The theme takes the focus from its buttons once they are pressed: a keyboard would start at the top. */
  function keepFocus() {
    for (const button of document.querySelectorAll(".theme-switch-button"))
      button.addEventListener("click", () => document.activeElement === document.body && button.focus());
    for (const side of ["primary", "secondary"])
      document
        .getElementById(`pst-${side}-sidebar-modal`)
        ?.addEventListener("close", () => document.querySelector(`.${side}-toggle`)?.focus());
  }

  /** Python in the browser needs a server: a book that is read from the disk has no link to it. */
  function dropWhatNeedsServer() {
    if (location.protocol === "file:") document.querySelector(".tfb-run")?.remove();
  }

  /**
   * Exercises of a shared filter (marks.js) show once it has sifted them, so that nothing moves.
   * The script has run, or is not there, when the page is ready.
   */
  function waitForFilter() {
    if (!/[#&](level=|open\b)/.test(location.hash)) return;
    document.documentElement.classList.add("tfb-sifting");
    document.addEventListener("DOMContentLoaded", () =>
      document.documentElement.classList.remove("tfb-sifting"),
    );
  }

  waitForFilter();
  document.addEventListener("DOMContentLoaded", () => {
    nameQuizzes();
    nameCitations();
    keepFocus();
    showFormulas();
    dropWhatNeedsServer();
  });
  addEventListener("resize", letKeyboardScroll);
}
