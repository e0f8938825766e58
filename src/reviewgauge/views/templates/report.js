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
  const name = () => { toggle.textContent = dark() ? "Light colours" : "Dark colours"; };
  toggle.hidden = false;
  name();
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remember(root.dataset.theme); name(); });

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
  const changes = all("details.change");
  const texts = new Map();
  const text = (change) => {
    if (!texts.has(change)) texts.set(change, change.textContent.toLowerCase());
    return texts.get(change);
  };
  const list = one("changes-list");
  const shown = one("shown");
  const apply = () => {
    const words = one("f-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const repo = one("f-repo").value;
    const state = one("f-state").value;
    const off = new Set(all("input[name=system]", form).filter((box) => !box.checked).map((box) => box.value));
    for (const column of all(".column", list)) column.hidden = off.has(column.dataset.system);
    if (state) list.dataset.show = state; else delete list.dataset.show;
    let count = 0;
    for (const change of changes) {
      const fits = (!repo || change.dataset.repo === repo)
        && (!words.length || words.every((word) => text(change).includes(word)))
        && (!state || change.querySelector(`.column:not([hidden]) [data-s="${state}"]`) !== null);
      change.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${changes.length} changes`;
  };
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 80); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply, 0));
  one("f-open").addEventListener("click", () => { for (const change of changes) if (!change.hidden) change.open = true; });
  one("f-close").addEventListener("click", () => { for (const change of changes) change.open = false; });
  one("f-none").addEventListener("click", () => { for (const box of all("input[name=system]", form)) box.checked = false; apply(); });
  apply();
})();
