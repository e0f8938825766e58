// Parcels to HTML. Every value that comes from the API passes through escapeHtml.

import { escapeHtml, formatMoney, formatWhen, statusLabel } from "./format.js";

export function renderParcel(parcel, options = {}) {
  const fee = parcel.fee > 0 ? `<p class="ws-fee">Storage so far: ${formatMoney(parcel.fee, options)}</p>` : "";
  return `
    <section class="ws-parcel" data-status="${escapeHtml(parcel.status)}">
      <h3>${escapeHtml(parcel.id)}</h3>
      <p class="ws-status">${statusLabel(parcel.status)}</p>
      ${fee}
      ${renderHistory(parcel.history, options)}
    </section>`;
}

export function renderHistory(history, options = {}) {
  const items = history.map(
    (event) => `<li><time datetime="${escapeHtml(event.at)}">${formatWhen(event.at, options)}</time>
      ${statusLabel(event.status)}</li>`,
  );
  return `<ol class="ws-history">${items.join("")}</ol>`;
}

export function renderMessage(text) {
  return `<p class="ws-message" role="status">${escapeHtml(text)}</p>`;
}
