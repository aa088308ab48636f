// SPDX-License-Identifier: BSD-3-Clause
// The connection to the server: one endless response of messages in, small requests out. web/web.h
// describes both.
"use strict";

// First number of a message, bytes before its content, and channels: web_channel of web/web.h.
const MAGIC = 0x3156574b, HEAD = 16, STATE = 1, POINTS = 2, CURVES = 3, GROUPS = 4, PLOT = 5,
      THINGS = 6;
const WINDOW = 3;               // most frames of points that are sent and not yet drawn
const SILENCE = 4000;           // ms without a sign of life: the connection is lost

// The connection of a page to its server.
class Link {
  // on: {message(channel, Uint8Array), status("live" | "lost" | "refused")}. A browser opens six
  // connections to a server at most, and a stream holds one: a page that is hidden closes its own.
  constructor(on) {
    this.on = on;
    this.stop = new AbortController();  // ends the stream
    this.client = crypto.getRandomValues(new Uint32Array(1))[0];    // id of this viewer
    this.points = 250000;               // most points of a frame
    this.heard = performance.now();     // when the last bytes came [ms]
    this.spare = [];                    // memory of messages of points, to be used again
    this.wait = 400;                    // before the next attempt to connect [ms]
    this.bytes = 0;                     // received in all
    setInterval(() => this.check(), 1000);
    document.addEventListener("visibilitychange", () => this.look());
    this.run();
  }

  // Connect and read messages, again and again, until the server refuses the token.
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
      } catch (error) { /* the connection was lost, like at the end of the server */ }
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

  // The page was hidden or shown.
  look() {
    if (document.hidden) {
      this.stop.abort();
    } else if (this.wake) {
      this.wake();
    }
  }

  // End a stream that is silent: run then connects again.
  check() {
    if (performance.now() - this.heard > SILENCE) {
      this.stop.abort();
    }
  }

  // Memory for a message of points: spare memory of about this size, else new. Frames of 8 MB would
  // burden the garbage collector.
  room(size) {
    const at = this.spare.findIndex(b => b.byteLength >= size && b.byteLength <= 2 * size + 4096);
    return new Uint8Array(at < 0 ? new ArrayBuffer(size) : this.spare.splice(at, 1)[0], 0, size);
  }

  // Keep the memory of a message that is not needed any more.
  giveBack(array) {
    if (this.spare.length < 4) {
      this.spare.push(array.buffer);
    }
  }

  // Cut the stream into messages until it ends: head and body are filled alternately, part by part.
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

  // Send a command, an object, unless the page cannot steer (view.status sets `closed`).
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
