"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  const one = (id) => document.getElementById(id);

  // Storage can be refused (file://, private windows): the choice is then kept for this page only.
  const remember = (value) => { try { localStorage.setItem("reviewgauge-theme", value); } catch { /* not kept */ } };
  const recall = () => { try { return localStorage.getItem("reviewgauge-theme"); } catch { return null; } };
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const saved = recall();
  if (saved === "dark" || saved === "light") root.dataset.theme = saved;
  const toggle = one("theme");
  if (toggle) {
  const name = () => { toggle.textContent = dark() ? "Light colours" : "Dark colours"; };
  toggle.hidden = false;
  name();
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remember(root.dataset.theme); name(); });
  }

  // A defect and its twin open together.
  for (const host of all(".arms")) {
    const own = all(":scope > .change", host);
    for (const change of own) change.addEventListener("toggle", () => { for (const other of own) other.open = change.open; });
  }

  // A link to something inside a closed change opens the change.
  const reveal = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = id && one(id);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      at.hidden = false;
    }
    target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", reveal);
  reveal();

  const form = one("filters");
  if (!form) return;
  form.hidden = false;
  // A change is searched by the words outside of its reviews; a review also by its own, a comment or miss also by its own.
  const words = (node, apart) => {
    const copy = node.cloneNode(true);
    for (const part of all(apart, copy)) part.remove();
    return copy.textContent.toLowerCase();
  };
  const changes = all("details.change").map((node) => {
    const columns = all(".column", node).map((own) => ({ own, text: "" }));
    const items = all("[data-s]", node).map((own) => ({ own, text: "", frame: columns.find((c) => c.own.contains(own)) }));
    return { node, columns, items, text: null, tally: all("[data-t]", node) };
  });
  const read = (change) => {
    if (change.text !== null) return;
    change.text = words(change.node, ".column, [data-s]");
    for (const column of change.columns) column.text = words(column.own, "[data-s]");
    for (const item of change.items) item.text = item.own.textContent.toLowerCase();
  };
  const shown = one("shown");
  const apply = () => {
    const wanted = one("f-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const repo = one("f-repo").value;
    const state = one("f-state").value;
    const off = new Set(all("input[name=system]", form).filter((box) => !box.checked).map((box) => box.value));
    let count = 0, said = 0, total = 0;
    for (const change of changes) {
      if (wanted.length) read(change);
      const holds = (...texts) => wanted.every((word) => texts.some((text) => text.includes(word)));
      const here = !repo || change.node.dataset.repo === repo;
      const counts = {};
      let fits = here && !state && !off.size && holds(change.text);
      for (const { own, text } of change.columns) {
        own.hidden = off.has(own.dataset.system);
        fits = fits || (here && !state && !own.hidden && holds(change.text, text));
      }
      for (const { own, text, frame } of change.items) {
        own.hidden = off.has(own.dataset.system) || (state && own.dataset.s !== state) || !holds(change.text, frame ? frame.text : "", text);
        if (!own.hidden && here) counts[own.dataset.s] = (counts[own.dataset.s] || 0) + 1;
      }
      total += change.items.length;
      const own = Object.values(counts).reduce((sum, n) => sum + n, 0);
      change.node.hidden = !(fits || own);
      for (const mark of change.tally) {
        mark.hidden = !counts[mark.dataset.t];
        mark.querySelector("b").textContent = counts[mark.dataset.t] || 0;
      }
      count += !change.node.hidden;
      said += own;
    }
    shown.textContent = `${count} of ${changes.length} changes, ${said} of ${total} results`;
  };
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 80); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply, 0));
  one("f-open").addEventListener("click", () => { for (const { node } of changes) if (!node.hidden) node.open = true; });
  one("f-close").addEventListener("click", () => { for (const { node } of changes) node.open = false; });
  one("f-none").addEventListener("click", () => { for (const box of all("input[name=system]", form)) box.checked = false; apply(); });
  apply();
})();
