// Talks to the API.

export class NotFound extends Error {}

export function createClient(baseUrl, { fetch = globalThis.fetch } = {}) {
  return {
    /** The parcel as the API shows it. Throws NotFound, or an Error that can be shown to nobody. */
    async fetchParcel(id, { signal } = {}) {
      const response = await fetch(`${baseUrl}/parcels/${encodeURIComponent(id)}`, {
        headers: { Accept: "application/json" },
        signal,
      });
      if (response.status === 404) throw new NotFound(`no parcel ${id}`);
      if (!response.ok) throw new Error(`the API answered ${response.status}`);
      return response.json();
    },
  };
}
