// A browser starts no worker from a file. There, search runs in a hidden frame that behaves like a worker.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    const runtime = `
      postMessage = data => parent.postMessage(data, "*");
      importScripts = async (...urls) => {
        for (const src of urls)
          await new Promise(onload => document.body.append(Object.assign(document.createElement("script"), {src, onload})));
      };`;
    inside.document.open();
    inside.document.write(`<html><body><script>${runtime}</script><script src="${url}"></script></body></html>`);
    inside.document.close();
    this.ready = new Promise(done => { inside.onload = done; });
    addEventListener("message", event => {
      if (event.source !== this.frame.contentWindow) return;
      const answer = new MessageEvent("message", {data: event.data});
      this.dispatchEvent(answer);
      this.onmessage?.(answer);
    });
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data: structuredClone(data)})));
  }

  terminate() {
    this.frame.remove();
  }
}

window.IFrameWorker = IFrameWorker; // the search asks for it by this name
if (location.protocol === "file:") window.Worker = IFrameWorker;
