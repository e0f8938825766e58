// What asks before it is done; and the judge's page: keys, questions that depend on others, seconds spent, and a draft that survives a lost session.
"use strict";

const data = document.body.dataset;
const draftName = (slot) => `draft-${data.account}-${slot}`;
if (data.saved) localStorage.removeItem(draftName(data.saved));

document.addEventListener("submit", (event) => {  // an owner's buttons that take something away
  const { ask } = event.submitter ? event.submitter.dataset : {};
  if (ask && !confirm(ask)) event.preventDefault();
});

const talkLink = document.getElementById("begin");  // of the page before a discussion
if (talkLink) document.addEventListener("keydown", (event) => {
  if (event.key === talkLink.dataset.key && !event.repeat && !event.altKey && !event.ctrlKey && !event.metaKey) talkLink.click();
});

const form = document.getElementById("judgement");
if (form) begin(form);

function begin(form) {
  const questions = [...form.querySelectorAll(".question")];
  const main = form.querySelector("button.main"), locked = !main || main.value === "next";
  const talk = [...form.querySelectorAll("button[data-key]")];  // a consensus is for good: never by Enter
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
      question.disabled = !shown || locked;
    }
  };
  const asking = () => questions[now] && !questions[now].hidden;
  const mark = () => questions.forEach((question, at) => question.classList.toggle("now", at === now && !locked));
  const move = (step) => {
    let at = now + step;
    while (at >= 0 && at < questions.length && questions[at].hidden) at += step;
    if (at >= 0 && at < questions.length) now = at;
    mark();
    if (asking()) questions[now].scrollIntoView({ block: "nearest" });
  };

  // --- the draft: answers, seconds in which the page was looked at, and the place in the change
  let spent = 0, since = document.hidden ? null : performance.now(), sent = false;
  const count = () => {
    if (since !== null) spent += performance.now() - since;
    since = document.hidden ? null : performance.now();
  };
  const keep = () => {
    if (sent) return;
    count();
    const answers = {};
    for (const [name, value] of new FormData(form)) {
      if (name.startsWith("q:") || name === "reason") (answers[name] ||= []).push(value);
    }
    const kept = { answers: changed ? answers : undefined, spent, now, place: changeView.place() };
    localStorage.setItem(draftName(data.slot), JSON.stringify(kept));
  };
  let changed = false;
  const restore = () => {
    const within = sessionStorage.getItem("within") === data.slot;  // another view: go on where one was
    sessionStorage.removeItem("within");
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(draftName(data.slot)) || "null"); } catch { /* not ours */ }
    if (!kept) return;
    spent = Number(kept.spent) || 0;
    if (within && kept.now < questions.length) now = kept.now;
    if (kept.answers && !locked) {
      changed = true;
      for (const input of form.querySelectorAll("input[type=radio], input[type=checkbox], textarea")) {
        const values = kept.answers[input.name] || [];
        if (input.type === "textarea") input.value = values.join("\n");
        else input.checked = values.includes(input.value);
      }
    }
    changeView.goBack(kept.place);
  };
  document.addEventListener("visibilitychange", () => { if (document.hidden) keep(); else count(); });
  window.addEventListener("pagehide", keep);

  form.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); return; }  // a double click
    keep();
    sent = true;
    form.elements.seconds.value = (spent / 1000).toFixed(1);
  });
  const first = () => { now = Math.max(0, questions.findIndex((one) => !one.hidden)); mark(); };
  window.addEventListener("pageshow", (event) => { if (event.persisted) { sent = false; first(); } });
  document.addEventListener("click", (event) => {
    if (event.target.closest("a[href^='?']")) sessionStorage.setItem("within", data.slot);
  });
  form.addEventListener("input", () => { changed = true; refresh(); keep(); });

  // --- skip or flag
  const aside = document.getElementById("aside"), putAside = document.getElementById("put-aside");
  let asideAction = "skip";
  const openAside = (action) => {
    if (!aside) return;
    asideAction = action;
    aside.open = true;
    putAside.elements.reason.focus();
  };
  if (putAside) {
    putAside.addEventListener("submit", keep);
    putAside.elements.reason.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      putAside.requestSubmit(putAside.querySelector(`button[value=${asideAction}]`));
      event.preventDefault();
    });
  }

  // --- keys
  const click = (id) => { const found = document.getElementById(id); if (found) found.click(); };
  const keys = document.getElementById("keys");
  document.getElementById("show-keys").addEventListener("click", () => keys.showModal());
  const commands = {
    j: () => move(1),
    k: () => move(-1),
    enter: () => { if (main && !talk.includes(main)) form.requestSubmit(main); },
    "]": () => changeView.nextFile(1),
    "[": () => changeView.nextFile(-1),
    ".": () => changeView.nextNote(1),
    ",": () => changeView.nextNote(-1),
    e: changeView.expand,
    f: changeView.showFiles,
    w: () => click("toggle-blanks"),
    v: () => click(data.view === "split" ? "view-unified" : "view-split"),
    r: () => form.elements.reason.focus(),
    t: () => { const field = asking() && questions[now].querySelector("textarea"); if (field) field.focus(); },
    s: () => openAside("skip"),
    g: () => openAside("flag"),
    u: () => click("undo"),
    "?": () => keys.showModal(),
  };
  const answer = (key) => {
    const keyed = asking() && !locked && [...questions[now].querySelectorAll("input")].find((one) => one.dataset.key === key);
    if (!keyed) return false;
    keyed.checked = keyed.type === "radio" ? true : !keyed.checked;
    keyed.dispatchEvent(new Event("input", { bubbles: true }));
    if (keyed.type === "radio") move(1);
    return true;
  };
  const conclude = (key) => {
    const button = talk.find((one) => one.dataset.key === key);
    if (!button) return false;
    if (button !== main && !form.elements.reason.value.trim()) form.elements.reason.focus();
    else form.requestSubmit(button);
    return true;
  };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.isComposing || keys.open) return;
    const { tagName, type } = event.target;
    const writing = ["TEXTAREA", "SELECT"].includes(tagName) || (tagName === "INPUT" && type === "text");
    if (event.key === "Enter" && event.ctrlKey && event.target.form === form) { commands.enter(); return; }
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") { document.activeElement.blur(); return; }
    if (writing || (["BUTTON", "A", "SUMMARY"].includes(tagName) && ["Enter", " "].includes(event.key))) return;
    if (answer(event.key) || conclude(event.key)) { event.preventDefault(); return; }
    const command = commands[event.key.toLowerCase()];
    if (command) { event.preventDefault(); command(); }
  });
  questions.forEach((question, at) => question.addEventListener("focusin", () => { now = at; mark(); }));

  // --- the panel: guidelines stay as one left them, and on a tablet it lies below the change
  const guidelines = document.getElementById("guidelines"), narrow = matchMedia("(max-width: 900px)").matches;
  if (narrow || localStorage.getItem("guidelines") === "closed") guidelines.open = false;
  guidelines.addEventListener("toggle", () => localStorage.setItem("guidelines", guidelines.open ? "" : "closed"));
  const fold = document.getElementById("fold");
  fold.addEventListener("click", () => {
    const folded = document.getElementById("panel").classList.toggle("folded");
    fold.setAttribute("aria-expanded", String(!folded));
  });

  restore();
  refresh();
  if (asking()) mark(); else first();
}
