// More lines around the hunks of a change, fetched from where the page says (`data-lines`).
"use strict";

(() => {
  const page = document.body;
  const STEP = 20;  // lines at a time
  const button = (text, label, show) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", show);
    return made;
  };

  const fill = (row) => {
    const more = row.querySelector(".more");
    const count = Number(row.dataset.count);
    if (!more) return;
    const first = Number(row.dataset.new) === 1;
    const last = !row.querySelector(".heading").textContent;  // nothing follows that the diff shows
    const step = Math.min(STEP, count);
    const buttons = [];
    if (count > 2 * STEP) {
      if (!first) buttons.push(button(`↓ ${step}`, `Show ${step} more lines below`, () => show(row, "start", step)));
      if (!last) buttons.push(button(`↑ ${step}`, `Show ${step} more lines above`, () => show(row, "end", step)));
    }
    buttons.push(button(`Show ${count} ${count === 1 ? "line" : "lines"}`, `Show all ${count} hidden lines`, () => show(row, "start", count)));
    more.replaceChildren(...buttons);
    more.hidden = false;
  };

  const show = async (row, from, count) => {
    const { file, old: before, new: after, count: all } = row.dataset;
    const skip = from === "end" ? Number(all) - count : 0;
    const asked = new URLSearchParams({
      file, count, old: Number(before) + skip, new: Number(after) + skip, view: page.dataset.view,
    });
    let answer;
    try { answer = await fetch(`${page.dataset.lines}?${asked}`); } catch { answer = null; }
    if (!answer || !answer.ok || answer.redirected) {
      row.querySelector(".more").textContent = "These lines cannot be loaded now. Reload the page.";
      return;
    }
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").querySelectorAll("tr");
    if (from === "end") row.after(...found); else row.before(...found);
    row.dataset.count = Number(all) - count;
    if (from === "start") {
      row.dataset.old = Number(before) + count;
      row.dataset.new = Number(after) + count;
    }
    if (row.dataset.count !== "0") fill(row);
    else if (row.querySelector(".heading").textContent) row.querySelector(".more").remove();
    else row.remove();
  };
  document.querySelectorAll("tr.head[data-count]").forEach(fill);
})();
