// A change on a page: files, comments, whitespace, and where one was. `more.js` has more lines around hunks.
"use strict";

const changeView = (() => {
  const page = document.body;
  const toolbar = document.querySelector(".toolbar");
  const top = () => toolbar.getBoundingClientRect().bottom + 4;

  const expand = () => {
    const rows = [...document.querySelectorAll("tr.head .more button")].map((one) => one.closest("tr"));
    const row = rows.find((one) => one.getBoundingClientRect().bottom > top()) || rows.at(-1);
    if (row) row.querySelector(".more button").click();
  };

  // --- files and comments
  const goTo = (element) => {
    if (!element) return;
    const menu = document.getElementById("files");
    menu.open = false;
    element.scrollIntoView({ block: element.matches(".file") ? "start" : "center" });
    if (!element.matches(".note")) return;
    document.querySelectorAll(".note.found").forEach((one) => one.classList.remove("found"));
    element.classList.add("found");
  };
  const nextFile = (step) => {
    const files = [...document.querySelectorAll(".file")];
    const at = files.findIndex((file) => file.getBoundingClientRect().bottom > top() + 20);
    goTo(files[Math.max(0, Math.min(files.length - 1, at + step))]);
  };
  let noteAt = -1;
  const nextNote = (step) => {
    const notes = [...document.querySelectorAll(".file .note[id]")];
    if (!notes.length) return;
    noteAt = (noteAt + step + notes.length + (noteAt < 0 && step < 0 ? 1 : 0)) % notes.length;
    goTo(notes[noteAt]);
  };
  const files = document.getElementById("files");
  const showFiles = () => {
    files.open = !files.open;
    if (files.open) files.querySelector("a").focus();
  };
  files.addEventListener("keydown", (event) => {
    const links = [...files.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { files.open = false; files.querySelector("summary").focus(); }
    if (!step) return;
    links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement) + step))].focus();
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!files.contains(event.target)) files.open = false;
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    const target = document.getElementById(link.hash.slice(1));
    if (target) { goTo(target); event.preventDefault(); }
  });

  // --- whitespace
  const blanks = document.getElementById("toggle-blanks");
  const showBlanks = (shown) => {
    page.classList.toggle("blanks", shown);
    blanks.setAttribute("aria-pressed", String(shown));
    localStorage.setItem("blanks", shown ? "1" : "");
  };
  blanks.addEventListener("click", () => showBlanks(!page.classList.contains("blanks")));
  showBlanks(localStorage.getItem("blanks") === "1");

  // --- where one was: the line at the top, which the other view has too
  const numbers = (row) => [...row.querySelectorAll(".number")].map((cell) => cell.textContent);
  const place = () => {
    for (const file of document.querySelectorAll(".file")) {
      const box = file.getBoundingClientRect();
      if (box.bottom <= top()) continue;
      for (const row of file.querySelectorAll("tr")) {
        const at = row.getBoundingClientRect();
        const line = numbers(row);
        if (at.bottom > top() && line.length) return { file: file.id, line, offset: at.top, y: scrollY };
      }
      return { file: file.id, line: [], offset: box.top, y: scrollY };
    }
    return { y: scrollY };
  };
  const goBack = (kept) => {
    if (!kept || !kept.y || location.hash) return;  // the top is where a page begins
    const file = kept.file && document.getElementById(kept.file);
    const same = (row) => { const [old, now] = numbers(row); return now ? now === kept.line[1] : old && old === kept.line[0]; };
    const row = file && kept.line.length && [...file.querySelectorAll("tr")].find(same);
    const found = row || file;
    if (found) scrollBy(0, found.getBoundingClientRect().top - kept.offset);
    else scrollTo(0, kept.y);
  };

  if (location.hash) goTo(document.getElementById(location.hash.slice(1)));
  return { expand, goBack, nextFile, nextNote, place, showFiles };
})();
