import assert from "node:assert/strict";
import { test } from "node:test";

import { NotFound } from "../src/client.js";
import { mount } from "../src/widget.js";
import { Page, clientOf, parcel, settled } from "./support.js";

test("the parcel is fetched and shown", async () => {
  const page = new Page();
  const widget = mount(page, { client: clientOf(parcel()), id: "WS-1001" });
  await settled();
  assert.match(page.innerHTML, /WS-1001/);
  widget.destroy();
  assert.equal(page.innerHTML, "");
});

test("an unknown parcel is said to be unknown", async () => {
  const page = new Page();
  const widget = mount(page, { client: clientOf(new NotFound("no")), id: "WS-9999" });
  await settled();
  assert.match(page.innerHTML, /do not know/);
  widget.destroy();
});

test("a page hears when the parcel moved, but not at first sight", async () => {
  const page = new Page();
  const heard = [];
  page.addEventListener("wayside:moved", (event) => heard.push(event.detail.status));
  const before = parcel({ status: "in_transit", history: parcel().history.slice(0, 2) });
  const widget = mount(page, { client: clientOf(before, parcel()), id: "WS-1001" });
  await settled();
  assert.deepEqual(heard, []);
  await widget.refresh();
  assert.deepEqual(heard, ["stored"]);
  widget.destroy();
});

test("a hiccup leaves the last known state on the page", async () => {
  const page = new Page();
  const widget = mount(page, { client: clientOf(parcel(), new Error("503")), id: "WS-1001" });
  await settled();
  await widget.refresh();
  assert.match(page.innerHTML, /Ready for pickup/);
  widget.destroy();
});
