// Values to text.

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const LABELS = {
  announced: "Announced",
  in_transit: "On its way",
  stored: "Ready for pickup",
  collected: "Picked up",
  expired: "Not picked up in time",
  returned: "Sent back",
};

export function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (char) => ESCAPES[char]);
}

export function statusLabel(status) {
  return LABELS[status] ?? "Unknown";
}

/** 450 -> "4.50" in the reader's way of writing it. */
export function formatMoney(cents, { locale = "en-GB", currency = "EUR" } = {}) {
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(cents / 100);
}

export function formatWhen(iso, { locale = "en-GB", timeZone } = {}) {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone }).format(new Date(iso));
}
