// Puts a parcel into a page and keeps it up to date.

import { NotFound } from "./client.js";
import { renderMessage, renderParcel } from "./render.js";

const DONE = new Set(["collected", "returned"]);

/**
 * Shows parcel `id` in `element`. Returns { refresh, track, destroy }.
 * Asks again every `interval` milliseconds until the parcel has arrived somewhere for good.
 */
export function mount(element, { client, id, interval = 60_000, ...options }) {
  let timer = null;
  let lastChange = null;
  let destroyed = false;

  async function refresh() {
    clearTimeout(timer);
    try {
      const parcel = await client.fetchParcel(id);
      if (destroyed) return;
      show(parcel);
      if (!DONE.has(parcel.status)) schedule();
    } catch (error) {
      if (destroyed) return;
      if (error instanceof NotFound) {
        element.innerHTML = renderMessage("We do not know this parcel.");
      } else {
        if (lastChange === null) element.innerHTML = renderMessage("Tracking is not available right now.");
        schedule();
      }
    }
  }

  function show(parcel) {
    const newest = parcel.history.map((event) => event.at).sort().at(-1) ?? null;
    element.innerHTML = renderParcel(parcel, options);
    if (lastChange !== null && newest > lastChange) {
      element.dispatchEvent(new CustomEvent("wayside:moved", { detail: { id: parcel.id, status: parcel.status } }));
    }
    lastChange = newest;
  }

  function schedule() {
    timer = setTimeout(refresh, interval);
  }

  function track(newId) {
    id = newId;
    lastChange = null;
    return refresh();
  }

  function destroy() {
    destroyed = true;
    clearTimeout(timer);
    element.innerHTML = "";
  }

  refresh();
  return { refresh, track, destroy };
}
