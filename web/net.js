// SPDX-License-Identifier: BSD-3-Clause
// The way to the server: one endless answer of messages in, small requests out.
"use strict";

const MAGIC = 0x3156574b, HEAD = 16, STATE = 1, POINTS = 2, CURVES = 3, GROUPS = 4, PLOT = 5,
      THINGS = 6;
const WINDOW = 3;               // frames of points on their way
const SILENCE = 4000;           // ms without a sign of life: the connection is lost

class Link {
  // on: {message(channel, Uint8Array), status("live" | "lost" | "refused")}. A browser opens six
  // connections to a server at most, and a stream holds one: a page that is hidden closes its own.
  constructor(on) {
    this.on = on;
    this.stop = new AbortController();
    this.client = crypto.getRandomValues(new Uint32Array(1))[0];
    this.points = 250000;
    this.heard = performance.now();
    this.spare = [];
    this.wait = 400;
    this.bytes = 0;
    setInterval(() => this.check(), 1000);
    document.addEventListener("visibilitychange", () => this.look());
    this.run();
  }

  async run() {
    for (;;) {
      await this.shown();
      this.stop = new AbortController();
      this.heard = performance.now();
      try {
        const query = `frames?client=${this.client}&window=${WINDOW}&points=${this.points}`;
        const answer = await fetch(query, {signal: this.stop.signal, cache: "no-store"});
        if (answer.status === 403) {
          this.on.status("refused");
          return;
        }
        if (answer.ok) {
          await this.read(answer.body.getReader());
        }
      } catch (error) { /* as when the server goes away; what follows is the same */ }
      if (document.hidden) {
        continue;
      }
      this.on.status("lost");
      await new Promise(go => setTimeout(go, this.wait));
      this.wait = Math.min(3000, this.wait * 1.6);
    }
  }

  // Wait until the page can be seen.
  async shown() {
    while (document.hidden) {
      await new Promise(go => { this.wake = go; });
    }
  }

  look() {
    if (document.hidden) {
      this.stop.abort();
    } else if (this.wake) {
      this.wake();
    }
  }

  check() {
    if (performance.now() - this.heard > SILENCE) {
      this.stop.abort();
    }
  }

  // Memory of points is used again: frames of 8 MB are not left to the garbage collector.
  room(size) {
    const at = this.spare.findIndex(b => b.byteLength >= size && b.byteLength <= 2 * size + 4096);
    return new Uint8Array(at < 0 ? new ArrayBuffer(size) : this.spare.splice(at, 1)[0], 0, size);
  }

  giveBack(array) {
    if (this.spare.length < 4) {
      this.spare.push(array.buffer);
    }
  }

  async read(reader) {
    const head = new Uint8Array(HEAD), words = new DataView(head.buffer);
    let at = 0, body = null, channel = 0;
    for (;;) {
      const {done, value} = await reader.read();
      if (done) {
        return;
      }
      this.heard = performance.now();
      this.bytes += value.length;
      for (let from = 0; from < value.length;) {
        const target = body || head;
        const part = Math.min(target.length - at, value.length - from);
        target.set(value.subarray(from, from + part), at);
        at += part;
        from += part;
        if (at < target.length) {
          continue;
        }
        at = 0;
        if (!body) {
          if (words.getUint32(0, true) !== MAGIC) {
            throw new Error("not a message of kith");
          }
          channel = words.getUint32(4, true);
          const size = words.getUint32(8, true);
          this.wait = 400;
          this.on.status("live");
          if (size === 0) {
            continue;
          }
          body = channel === POINTS ? this.room(size) : new Uint8Array(size);
        } else {
          this.on.message(channel, body);
          body = null;
        }
      }
    }
  }

  // A frame was drawn: the next may come.
  seen() {
    this.post(`seen?client=${this.client}&points=${this.points}`);
  }

  send(command) {
    if (this.closed) {
      return;
    }
    this.post("control", JSON.stringify(command));
  }

  post(where, body) {
    fetch(where, {method: "POST", body: body || "", cache: "no-store",
                  headers: {"Content-Type": "application/json"}}).catch(() => {});
  }
}
