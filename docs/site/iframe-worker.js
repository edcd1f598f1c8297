/* A page that is a file may start no worker: the search then runs in a hidden frame, which takes and gives messages alike. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const base = new URL(url, document.baseURI)
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.document.open()
      inside.document.write("<!doctype html><body></body>")
      inside.document.close()
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      const load = (address) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script")
          script.onload = done
          script.onerror = failed
          script.src = new URL(address, base)
          inside.document.body.append(script)
        })
      inside.importScripts = (...addresses) => addresses.reduce((last, each) => last.then(() => load(each)), Promise.resolve())
      this.ready = load(base)
      this.inside = inside
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
