// SPDX-License-Identifier: BSD-3-Clause
// What a viewer can keep of a view: a link that restores it, a picture, a film of the screen.
"use strict";

// The part of the address after "#": camera, colour, looks, frame, and the selected particle.
function linkOf(view) {
  const {scene, state} = view, {camera, style} = scene, n = x => Number(x.toPrecision(5));
  const parts = {yaw: n(camera.yaw), pitch: n(camera.pitch), zoom: n(camera.zoom),
                 at: camera.centre.map(n).join("_"), colour: state.colour, bodies: style.bodies,
                 size: n(style.size), light: n(style.exposure), trails: n(style.trails),
                 frame: state.frames > 1 ? state.frame : undefined,
                 particle: scene.mark >= 0 ? scene.mark : undefined,
                 follow: scene.mark >= 0 && scene.follow ? 1 : undefined};
  if (parts.follow) {
    delete parts.at;
  }
  return Object.entries(parts).filter(([, v]) => v !== undefined)
    .map(([k, v]) => `${k}=${v}`).join("&");
}

// Parse the part of an address after "#". @return names and values; null: there are none
function readLink(text) {
  const parts = Object.fromEntries(new URLSearchParams(text.replace(/^#/, "")));
  return Object.keys(parts).length ? parts : null;
}

// Restore the view of a link; numbers out of their range are ignored.
function applyLink(view, parts) {
  const {scene} = view, {camera, style} = scene;
  const number = (name, low, high, set) => {
    const x = parseFloat(parts[name]);
    if (x >= low && x <= high) {
      set(x);
    }
  };
  number("yaw", -1e4, 1e4, x => { camera.yaw = x; });
  number("pitch", -Math.PI / 2 - 1e-3, Math.PI / 2 + 1e-3, x => { camera.pitch = x; });
  number("zoom", 0.2, 400, x => { camera.zoom = x; });
  number("size", 0.2, 4, x => { style.size = x; view.looks.size.show(x); });
  number("light", 0.125, 8, x => {
    style.exposure = x;
    view.looks.exposure.show(Math.log2(x));
  });
  number("trails", 0, 1, x => { style.trails = x; view.looks.trails.show(x); });
  const at = (parts.at || "").split("_").map(parseFloat);
  if (at.length === 3 && at.every(Number.isFinite)) {
    camera.centre = at;
  }
  if (BODIES.includes(parts.bodies)) {
    view.setBodies(parts.bodies);
  }
  const names = (view.state.colours || []).map(c => c.name);
  if (names.includes(parts.colour) && parts.colour !== view.state.colour) {
    view.link.send({colour: parts.colour});
  }
  number("frame", 0, (view.state.frames || 1) - 1, x => {
    if (x !== view.state.frame) {
      view.link.send({frame: Math.floor(x)});
    }
  });
  number("particle", 0, scene.head.shown - 1, x => view.mark(Math.floor(x)));
  scene.follow = scene.mark >= 0 && parts.follow === "1";
  scene.dirty = scene.wipe = true;
}

// Give the browser a file to keep.
function keepFile(blob, name) {
  const to = element("a", {href: URL.createObjectURL(blob), download: name});
  to.click();
  setTimeout(() => URL.revokeObjectURL(to.href), 10000);
}

// The name of a file to keep: title, frame or step, and ending.
function nameOf(view, kind) {
  const title = view.state.title.replace(/^.*\//, "").replace(/[^\w.-]+/g, "-");
  const {head} = view.scene, at = view.state.frames > 1 ? view.state.frame : head ? head.step : 0;
  return `${title}-${at}.${kind}`;
}

// The picture with its axes and bar, as a PNG. @return a Blob
function takePicture(view) {
  const {scene} = view, gauge = $("gauge"), out = element("canvas",
      {width: scene.canvas.width, height: scene.canvas.height}), to = out.getContext("2d");
  scene.dirty = true;
  scene.draw(performance.now());        // the browser does not keep a drawn WebGL picture
  to.drawImage(scene.canvas, 0, 0);
  if (!gauge.hidden) {
    const box = gauge.getBoundingClientRect(), s = out.width / scene.canvas.clientWidth;
    to.drawImage(gauge, box.left * s, box.top * s, box.width * s, box.height * s);
  }
  return new Promise(done => out.toBlob(done, "image/png"));
}

// A film of the screen as it is drawn, until it is stopped. done: called with a Blob and the ending
class Film {
  constructor(canvas, done) {
    const type = Film.type(), parts = [];
    this.recorder = new MediaRecorder(canvas.captureStream(30),
                                      {mimeType: type, videoBitsPerSecond: 12e6});
    this.recorder.ondataavailable = e => parts.push(e.data);
    this.recorder.onstop = () => done(new Blob(parts, {type}), type.replace("video/", ""));
    this.recorder.start(1000);
  }

  // What the browser can encode; undefined: nothing. Chromium loses the first second of mp4.
  static type() {
    return typeof MediaRecorder !== "function" || !HTMLCanvasElement.prototype.captureStream
        ? undefined : ["video/webm", "video/mp4"].find(t => MediaRecorder.isTypeSupported(t));
  }

  stop() {
    this.recorder.stop();
  }
}
