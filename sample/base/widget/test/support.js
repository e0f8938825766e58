// Stand-ins for the page and the API.

export class Page extends EventTarget {
  innerHTML = "";
}

export function parcel(fields = {}) {
  return {
    id: "WS-1001",
    size: "small",
    status: "stored",
    fee: 0,
    history: [
      { status: "announced", at: "2024-01-10T09:00:00Z" },
      { status: "in_transit", at: "2024-01-11T07:30:00Z" },
      { status: "stored", at: "2024-01-11T16:05:00Z" },
    ],
    locker: { name: "Old Quay", street: "2 Quay Street", note: "", opens: null, closes: null },
    ...fields,
  };
}

/** A client that gives out `answers` one after the other; an Error is thrown. */
export function clientOf(...answers) {
  const asked = [];
  return {
    asked,
    async fetchParcel(id) {
      asked.push(id);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

export const settled = () => new Promise((resolve) => setImmediate(resolve));
