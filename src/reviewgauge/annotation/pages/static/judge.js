// The judge's page: keys, questions that depend on others, seconds spent, and a draft that survives a lost session.
"use strict";

const body = document.body;
const draftName = (slot) => `draft-${body.dataset.account}-${slot}`;
if (body.dataset.saved) localStorage.removeItem(draftName(body.dataset.saved));

const form = document.getElementById("judgement");
if (form) begin(form);

function begin(form) {
  const questions = [...form.querySelectorAll(".question")];
  let now = 0;

  const checked = (part, dimension) => {
    const found = questions.find((q) => q.dataset.part === part && q.dataset.dimension === dimension) ||
      questions.find((q) => q.dataset.part === "-1" && q.dataset.dimension === dimension);
    return found ? [...found.querySelectorAll("input:checked")].map((input) => input.value) : [];
  };
  const refresh = () => {
    for (const question of questions) {
      const { when, values, part } = question.dataset;
      const shown = !when || checked(part, when).some((value) => values.split(",").includes(value));
      question.hidden = !shown;
      question.disabled = !shown;
    }
  };
  const asking = () => questions[now] && !questions[now].hidden;
  const mark = () => questions.forEach((question, at) => question.classList.toggle("now", at === now));
  const move = (step) => {
    let at = now + step;
    while (at >= 0 && at < questions.length && questions[at].hidden) at += step;
    if (at >= 0 && at < questions.length) now = at;
    mark();
    if (asking()) questions[now].scrollIntoView({ block: "nearest" });
  };

  // --- the draft
  const keep = () => {
    const kept = {};
    for (const [name, value] of new FormData(form)) {
      if (name.startsWith("q:") || name === "reason") (kept[name] ||= []).push(value);
    }
    localStorage.setItem(draftName(body.dataset.slot), JSON.stringify(kept));
  };
  const restore = () => {
    let kept;
    try { kept = JSON.parse(localStorage.getItem(draftName(body.dataset.slot)) || "null"); } catch { kept = null; }
    if (!kept) return;
    for (const input of form.querySelectorAll("input[type=radio], input[type=checkbox], textarea")) {
      const values = kept[input.name] || [];
      if (input.type === "textarea") input.value = values.join("\n");
      else input.checked = values.includes(input.value);
    }
  };

  // --- seconds in which the page was looked at
  let spent = 0, since = performance.now();
  const count = () => {
    if (since !== null) spent += performance.now() - since;
    since = document.hidden ? null : performance.now();
  };
  document.addEventListener("visibilitychange", count);

  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); return; }  // a double click
    sent = true;
    count();
    form.elements.seconds.value = (spent / 1000).toFixed(1);
  });
  window.addEventListener("pageshow", () => { sent = false; });
  form.addEventListener("input", () => { refresh(); keep(); });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") { document.activeElement.blur(); return; }
    if (["TEXTAREA", "SELECT", "SUMMARY"].includes(event.target.tagName)) return;
    if (["BUTTON", "A"].includes(event.target.tagName) && event.key === "Enter") return;
    const keyed = asking() && [...questions[now].querySelectorAll("input")].find((input) => input.dataset.key === event.key);
    if (keyed) {
      keyed.checked = keyed.type === "radio" ? true : !keyed.checked;
      refresh();
      keep();
      if (keyed.type === "radio") move(1);
    } else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "Enter") form.requestSubmit(form.querySelector("button.main"));
    else if (event.key === "]" || event.key === "[") nextFile(event.key === "]" ? 1 : -1);
    else if (event.key === "w") document.getElementById("toggle-blanks").click();
    else if (event.key === "v") { keep(); document.getElementById("toggle-view").click(); }
    else if (event.key === "r") form.elements.reason.focus();
    else return;
    event.preventDefault();
  });
  const nextFile = (step) => {
    const files = [...document.querySelectorAll(".file")];
    const at = files.findIndex((file) => file.getBoundingClientRect().bottom > 20);
    const to = files[Math.max(0, Math.min(files.length - 1, at + step))];
    if (to) to.scrollIntoView();
  };
  const blanks = document.getElementById("toggle-blanks");
  const showBlanks = (shown) => {
    body.classList.toggle("blanks", shown);
    blanks.setAttribute("aria-pressed", String(shown));
    localStorage.setItem("blanks", shown ? "1" : "");
  };
  blanks.addEventListener("click", () => showBlanks(!body.classList.contains("blanks")));
  showBlanks(localStorage.getItem("blanks") === "1");
  questions.forEach((question, at) => question.addEventListener("focusin", () => { now = at; mark(); }));

  restore();
  refresh();
  mark();
}
