import assert from "node:assert/strict";
import { test } from "node:test";

import { renderMessage, renderParcel } from "../src/render.js";
import { parcel } from "./support.js";

test("a parcel shows its status and its history", () => {
  const html = renderParcel(parcel(), { timeZone: "UTC" });
  assert.match(html, /Ready for pickup/);
  assert.equal(html.match(/<li>/g).length, 3);
  assert.match(html, /11 Jan 2024, 16:05/);
});

test("a fee is shown only when there is one", () => {
  assert.doesNotMatch(renderParcel(parcel()), /Storage/);
  assert.match(renderParcel(parcel({ fee: 450 })), /€4\.50/);
});

test("what comes from outside is escaped", () => {
  assert.match(renderParcel(parcel({ id: "<b>" })), /&lt;b&gt;/);
  assert.match(renderMessage('"quoted"'), /&quot;quoted&quot;/);
});
