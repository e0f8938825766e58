"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  const one = (selector, from) => (from || document).querySelector(selector);
  const here = document.body.dataset.here;
  // A page can be made ahead of the click that shows it: what the reader chose until then is read with that click.
  const onceShown = (does) => { if (document.prerendering) document.addEventListener("prerenderingchange", does, { once: true }); else does(); };

  // Storage can be refused (file://, private windows): the choice is then kept for this page only.
  const recall = () => { try { return localStorage.getItem("reviewgauge-theme"); } catch { return null; } };
  const remember = (value) => { try { localStorage.setItem("reviewgauge-theme", value); } catch { /* not kept */ } };
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = one("#theme");
  const named = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
  const choose = (value) => { if (["dark", "light"].includes(value)) root.dataset.theme = value; named(); };
  const before = recall();
  theme.hidden = false;
  choose(before);
  onceShown(() => { if (recall() !== before) choose(recall()); });
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remember(root.dataset.theme); named(); });

  // Any column sorts; a second click turns the order. What has no figure stays last.
  const figure = (cell) => {
    const text = cell.dataset.value ?? (one(".num", cell) || cell).textContent.trim();
    const number = parseFloat(text.replace(/[,$]/g, "").replace("−", "-").replace(/^(-?)\./, "$10."));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  for (const table of all("table.sortable, table.board")) {
    const body = table.tBodies[0];
    all("thead th", table).forEach((head, at) => {
      if (!head.textContent.trim() || one(".hear, a", head)) return;
      let button = one("button.sort", head);  // a large table has its own: they need not be laid out twice
      if (!button) {
        button = document.createElement("button");
        button.type = "button";
        button.className = "sort";
        button.append(...head.childNodes);
        head.append(button);
      }
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = all(":scope > tr", body), cut = rows.findIndex((row) => row.classList.contains("section"));
        const sorted = (part) => part.map((row) => [figure(row.cells[at]), row]).sort(([a], [b]) => {
          if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
          return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
        }).map(([, row]) => row);
        // Baselines stand apart, in whatever order.
        body.append(...(cut < 0 ? sorted(rows) : [...sorted(rows.slice(0, cut)), rows[cut], ...sorted(rows.slice(cut + 1))]));
      });
    });
  }

  // An exported list is narrowed here, by the same words that the service takes.
  const filters = one("#filters");
  if (filters && here === "changes" && document.body.dataset.stamp === undefined) {
    const wanted = new URLSearchParams(location.search);
    const narrow = () => {
      const words = (wanted.get("text") || "").toLowerCase().split(/\s+/).filter(Boolean);
      const names = all("select[name=system] option", filters).map((option) => option.value || option.textContent);
      const at = names.indexOf(wanted.get("system") || "all") - 1, state = wanted.get("state"), fact = wanted.get("fact");
      let shown = 0;
      for (const row of all(".matrix tbody tr")) {
        const cells = at < 0 ? [row] : [row.cells[at + 2]];
        const holds = words.every((word) => row.dataset.text.includes(word)) && (!fact || row.dataset.facts.includes(`|${fact}|`));
        row.hidden = !(holds && (!state || (state === "different" ? "different" in row.dataset : cells.some((cell) => one(state === "false" ? ".s-false, .s-rejected" : `.s-${CSS.escape(state)}`, cell)))));
        shown += !row.hidden;
      }
      one("#shown").textContent = shown === 1 ? "1 change" : `${shown} changes`;
    };
    for (const [name, value] of wanted) if (filters.elements[name]) filters.elements[name].value = value;
    filters.addEventListener("submit", (event) => {
      event.preventDefault();
      for (const [name, value] of new FormData(filters)) wanted.set(name, value);
      narrow();
    });
    narrow();
  }
  // Rows of the board are narrowed here: systems that are marked, or all, in one state. The address says so.
  if (filters && here === "board") {
    const boxes = all("input[name=system]", filters), state = filters.elements.state, asked = new URLSearchParams(location.search);
    for (const box of boxes) box.checked = asked.getAll("system").includes(box.value);
    state.value = asked.get("state") || "";
    filters.parentNode.open = location.search !== "";
    const narrow = () => {
      const marked = boxes.some((box) => box.checked);
      const fits = (box) => (!marked || box.checked) && (!state.value || box.dataset.states.split(" ").includes(state.value));
      const names = new Set(boxes.filter(fits).map((box) => one("bdi", box.parentNode).textContent));
      for (const row of all(".board tbody tr:not(.section)")) row.hidden = !names.has(one("th bdi", row).textContent);
      one("#shown").textContent = names.size === 1 ? "1 system" : `${names.size} systems`;
    };
    narrow();
    filters.addEventListener("change", (event) => {
      if (event.target.name === "fact") return;
      event.stopPropagation();
      const wanted = [...new FormData(filters)].filter(([, value]) => value);
      const address = `?${new URLSearchParams(wanted)}`;
      narrow();
      try { history.replaceState(null, "", address); } catch { location.search = address; }  // a file has to be loaded again
    });
  }
  for (const select of all(here === "board" ? "#filters [name=fact]" : "#filters select")) select.addEventListener("change", () => filters.requestSubmit());

  // A table that is wider than its place says so.
  const wide = new ResizeObserver((seen) => seen.forEach(({ target }) => target.classList.toggle("sideways", target.scrollWidth > target.clientWidth + 1)));
  for (const region of all(".scroll")) wide.observe(region);

  // Once a run is chosen, those of other benchmarks cannot be.
  const compare = one("#do-compare");
  if (compare) {
    const boxes = all("#compare [name=run]");
    const allow = () => {
      const chosen = boxes.filter((box) => box.checked), of = chosen[0]?.dataset.benchmark;
      for (const box of boxes) box.disabled = !box.dataset.benchmark || (of && box.dataset.benchmark !== of);
      compare.disabled = chosen.length < 2;
    };
    compare.form.addEventListener("change", allow);
    addEventListener("pageshow", allow);  // what was chosen before is restored after this script
  }

  const pair = one("#pair");
  if (pair) pair.addEventListener("change", () => { location.href = `against-${one("#first").value}-${one("#second").value}.html${location.search.replace(/[?&]page=\d+/, "")}`; });

  // A list that was narrowed or sorted is walked in its order from the change that was opened; the list marks where that ended.
  const walk = () => { try { return JSON.parse(sessionStorage.getItem("reviewgauge-walk")); } catch { return null; } };
  const keep = (value) => { try { sessionStorage.setItem("reviewgauge-walk", JSON.stringify(value)); } catch { /* by number, then */ } };
  const file = (link) => link.pathname.replace("-split.html", ".html");
  const rows = () => all(".list tbody tr, .board tbody tr:not(.section), .differs").filter((row) => !row.hidden);
  if (["changes", "against"].includes(here)) {
    one("main").addEventListener("click", (event) => {
      const row = event.target.closest("tbody tr, .differs"), link = row && one("a", row), cell = event.target.closest("td");
      if (!link || !(link.contains(event.target) || (cell && cell.cellIndex > 1))) return;
      const system = cell ? one("bdi", cell.closest("table").tHead.rows[0].cells[cell.cellIndex]).textContent : filters?.elements.system?.value;
      if (system) link.search = new URLSearchParams({ system });
      const narrow = here === "against" || one("th[aria-sort]") || [...new FormData(filters).values()].some(Boolean);
      keep({ list: location.href, links: narrow ? rows().map((each) => file(one("a", each))) : [], more: one('a[rel="next"]')?.href, part: Boolean(one(".pages")) });
      if (cell) location.href = link.href;
    });
    if (location.hash === "#first") {  // who walks a list goes on with its next page
      onceShown(() => { history.replaceState(null, "", location.href.split("#")[0]); one(".list tbody a, .differs h2 a")?.click(); });
    }
    addEventListener("pageshow", () => {
      const from = walk(), at = from?.last && from.list === location.href ? rows().findIndex((row) => file(one("a", row)) === from.last) : -1;
      if (at < 0) return;
      step(at - place);
      keep({ ...from, last: "" });
    });
  }
  const walked = () => {
    const from = here === "change" && walk();
    if (!from) return;
    keep({ ...from, last: file(location) });
    const at = from.links.indexOf(file(location)), split = document.body.dataset.view === "split";
    const link = (words, href, rel) => (href ? [" ", Object.assign(document.createElement("a"), { href: rel && split ? href.replace(/(change-\d+)\.html$/, "$1-split.html") : href, rel, textContent: words })] : []);
    if (at >= 0 && from.links.length > 1) {
      const next = at + 1 < from.links.length ? link("next", from.links[at + 1], "next") : link("next page", from.more && `${from.more}#first`, "next");
      one("#walk").replaceChildren(`${at + 1} of ${from.links.length} ${from.part ? "on a page of" : "in"}`, ...link("the list", from.list, ""), " ·", ...link("previous", from.links[at - 1], "prev"), ...next);
    }
  };

  // Systems are shown and hidden on the lines of a change; the address and the links to other changes say which.
  const boxes = all("[data-show]"), nameOf = (box) => one("bdi", box.parentNode).textContent;
  const show = () => {
    const shown = boxes.filter((box) => box.checked).map(nameOf);
    for (const box of boxes) for (const part of all(`main [data-system="${box.dataset.show}"]`)) part.hidden = !box.checked;
    for (const note of all(".note.said")) note.hidden = one("[data-system]", note).hidden;
    for (const row of all("tr.notes")) row.hidden = all(".note", row).every((note) => all("[data-system]", note).length && all(".said", note).every((said) => said.hidden));
    const carry = (address) => {
      const to = new URL(address);
      to.searchParams.delete("system");
      if (shown.length < boxes.length) for (const name of shown) to.searchParams.append("system", name);
      return to.href;
    };
    for (const link of all('#walk a[href*="change-"], .segments a, a[href^="?part"]')) link.href = carry(link.href);
    try { history.replaceState(null, "", carry(location.href)); } catch { /* a file keeps its address */ }
  };
  const alone = () => {  // the first alone, then the one after, and after the last all of them
    const on = boxes.filter((box) => box.checked), at = on.length === 1 ? boxes.indexOf(on[0]) + 1 : 0;
    boxes.forEach((box, number) => { box.checked = number === at || at === boxes.length; });
    if (boxes.length) show();
  };
  const asked = new URLSearchParams(location.search).getAll("system");
  if (boxes.some((box) => asked.includes(nameOf(box)))) for (const box of boxes) box.checked = asked.includes(nameOf(box));
  onceShown(() => { walked(); if (boxes.some((box) => !box.checked)) show(); });
  for (const box of boxes) box.addEventListener("change", show);
  one("#alone")?.addEventListener("click", alone);

  // What a reader says of a result is kept in the run.
  for (const form of all("form.judge")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fields = new URLSearchParams(new FormData(form, event.submitter));
      const answer = await fetch(form.action, { method: "POST", body: fields });
      if (answer.ok) {
        if (here === "change") location.hash = one(".said", form.parentNode).id;  // keys go on from there
        location.reload();
        return;
      }
      const said = document.createElement("p");
      said.className = "reason";
      said.setAttribute("role", "status");
      said.textContent = await answer.text();
      if (form.nextElementSibling && form.nextElementSibling.matches("[role=status]")) form.nextElementSibling.replaceWith(said);
      else form.after(said);  // to be sent again
    });
  }

  // What takes long comes later.
  for (const place of all("[data-later]")) {
    fetch(new URL(place.dataset.later, location.href)).then((answer) => (answer.ok ? answer.text() : "")).then((text) => { place.textContent = text; }).catch(() => place.remove());
  }

  // Live: the page comes anew when a file of the run changed, and keeps its place.
  const stamp = document.body.dataset.stamp;
  if (stamp !== undefined) {
    let known = document.body.dataset.known || null, leaving = false;  // a reload would undo a click that is on its way
    addEventListener("beforeunload", () => { leaving = true; });
    addEventListener("pageshow", () => { leaving = false; });
    const look = async () => {
      try {
        const reply = await fetch(new URL(stamp, location.href));
        const answer = reply.ok ? await reply.json() : { stamp: "gone", running: false };
        one("#live").textContent = answer.running ? "running" : "";
        if (known !== null && known !== answer.stamp && !leaving && !one("dialog[open]") && !document.querySelector("form.judge :focus")) {
          location.reload();
        }
        known = answer.stamp;
      } catch { one("#live").textContent = "the viewer has ended"; }
      setTimeout(look, 2000);
    };
    onceShown(look);
  }

  const keys = one("#keys");
  one("#show-keys").addEventListener("click", () => keys.showModal());
  let place = -1;
  const step = (by) => {
    const items = here === "change" ? all(".note").filter((item) => item.offsetParent) : rows();
    if (!items.length) return;
    if (place < 0) place = items.findIndex((item) => one(":target", item));
    if (items[place]) items[place].classList.remove("at");
    place = Math.min(Math.max(place + by, 0), items.length - 1);
    items[place].classList.add("at");
    items[place].scrollIntoView({ block: "nearest" });
    (one("a", items[place]) || items[place]).focus({ preventScroll: true });
  };
  const follow = (selector) => { const link = one(selector); if (link) link.click(); };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const does = {
      j: () => step(1), k: () => step(-1), n: () => follow('a[rel="next"]'), p: () => follow('a[rel="prev"]'),
      s: alone, v: () => follow(".segments a:not([aria-current])"), r: () => follow(".strip .brand"), b: () => follow('.strip nav a[href="index.html"]'),
      c: () => follow('.strip nav a[href="changes.html"]'), "?": () => keys.showModal(),
      "/": () => { const box = one("#f-text"); if (box) box.focus(); else follow('.strip nav a[href="changes.html"]'); },
    }[event.key];
    if (does) { event.preventDefault(); does(); }
  });
  if (document.prerendering) { root.classList.add("ahead"); root.getBoundingClientRect(); }  // laid out before it is shown
})();
