// SPDX-License-Identifier: BSD-3-Clause
// Particles on the screen, through WebGL 2. setPoints takes a message of points; draw draws them
// once for each frame of the screen. Many particles, or particles without directions, are points of
// light (drawLight), fewer are bodies (web/bodies.js).
"use strict";

const RING = 64, FIELD = 0.75;      // corners of a circle; field of view [radian]
// Head of a message of points, WEB_POINTS_HEAD of web/web.h; particles of which measure() computes
// distances.
const HEAD_BYTES = 112, MOST_MEASURED = 5000;

// Compile a program. @return it, and the locations of its uniforms by name; throws on failure
function compile(gl, vertex, pixel) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, pixel]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map(s => gl.getShaderInfoLog(s));
    throw new Error(gl.getProgramInfoLog(program) + logs.join("\n"));
  }
  const at = {};
  const n = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
  for (let k = 0; k < n; k++) {
    const name = gl.getActiveUniform(program, k).name;
    at[name] = gl.getUniformLocation(program, name);
  }
  return {program, at};
}

// A perspective camera that looks at a centre. Angles in radian.
class Camera {
  constructor() {
    this.yaw = 0.65;        // around the z axis
    this.pitch = 0.42;      // above the x-y plane
    this.zoom = 1;
    this.centre = [0, 0, 0];
    this.radius = 1;        // of the ball around the centre that is seen at zoom 1
    this.aside = [0, 0];    // the middle of the part of the canvas that nothing covers [-1 to 1]
    this.room = [1, 1];     // its width and height, as fractions of the canvas
  }

  // Unit vectors to the right, up, and to the eye.
  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch),
                              Math.sin(this.pitch)];
    return {right: [cy, sy, 0], up: [-sy * sp, cy * sp, cp], back: [sy * cp, -cy * cp, sp]};
  }

  eye(aspect) {
    const {back} = this.axes(), distance = this.distance(aspect);
    return this.centre.map((c, k) => c + distance * back[k]);
  }

  // Column-major product of projection and view. aside times w shifts the whole picture in the
  // canvas. aspect: width by height of the canvas
  matrix(aspect) {
    const {right, up, back} = this.axes();
    const distance = this.distance(aspect), eye = this.eye(aspect);
    const near = distance * 0.01, far = distance + 6 * this.radius;
    const dot = v => -(v[0] * eye[0] + v[1] * eye[1] + v[2] * eye[2]);
    const f = 1 / Math.tan(FIELD / 2), a = (far + near) / (near - far);
    const w = back.concat(dot(back)).map(x => -x), [ax, ay] = this.aside;
    const rows = [right.concat(dot(right)).map((x, k) => x * f / aspect + ax * w[k]),
                  up.concat(dot(up)).map((x, k) => x * f + ay * w[k]),
                  w.map((x, k) => -x * a + (k === 3 ? 2 * far * near / (near - far) : 0)), w];
    const out = new Float32Array(16);
    rows.forEach((row, r) => row.forEach((x, c) => { out[4 * c + r] = x; }));
    return out;
  }

  // From the eye to the centre: the ball fits the free part of the canvas.
  distance(aspect) {
    return 1.22 * this.radius / Math.sin(FIELD / 2) / this.zoom /
           Math.min(this.room[1], aspect * this.room[0]);
  }
}

// Members set later: kept, the newest message of points; spacing, mean distance of particles;
// length, that of bodies; way, how far particles move from frame to frame; gap, mean time between
// messages [ms]; arrived, when the newest came [ms]; glide, particles move from the frame before to
// the newest.
class Scene {
  constructor(canvas) {
    this.canvas = canvas;
    this.camera = new Camera();
    this.head = null;       // head of the newest message of points, see setPoints; null: none came
    this.rings = [];        // circles around groups, see setRings
    this.style = {size: 1, exposure: 1, trails: 0.5, bodies: "auto"};
    this.paper = 0;         // 1: light ground
    this.mark = -1;         // index of a point with a circle; -1: none
    this.follow = false;    // the camera goes with that point
    this.thrift = 0;        // less detail on a slow machine, see Bodies.level of web/bodies.js
    this.beat = 0;          // phase of wings [radian]
    this.showRings = true;
    this.spin = false;
    this.dirty = true;      // the picture must be drawn again; wipe: without light of frames before
    this.still = 0;
    canvas.addEventListener("webglcontextlost", e => e.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.start());
    this.start();
  }

  // Make all objects of WebGL; again after the context was lost.
  start() {
    const gl = this.gl = this.canvas.getContext("webgl2",
        {antialias: true, alpha: false, powerPreference: "high-performance"});
    if (!gl) {
      throw new Error("this browser has no WebGL 2");
    }
    this.half = gl.getExtension("EXT_color_buffer_float") ||
                gl.getExtension("EXT_color_buffer_half_float");
    this.points = compile(gl, POINT_VERTEX, POINT_PIXEL);
    this.tone = compile(gl, SCREEN_VERTEX, TONE_PIXEL);
    this.fade = compile(gl, SCREEN_VERTEX, FADE_PIXEL);
    this.lines = compile(gl, LINE_VERTEX, LINE_PIXEL);
    this.bodies = new Bodies(gl);
    this.past = [];         // buffers of points: of the newest frame, of the one before, ...
    this.unused = [];       // buffers to be used again
    this.edges = gl.createBuffer();
    this.circle = gl.createBuffer();
    this.circles = gl.createBuffer();
    this.markCircle = gl.createBuffer();
    const corners = new Float32Array(3 * RING);
    for (let k = 0; k < RING; k++) {
      corners[3 * k] = Math.cos(2 * Math.PI * k / RING);
      corners[3 * k + 1] = Math.sin(2 * Math.PI * k / RING);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.circle);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    this.sum = gl.createTexture();          // sums of light, see web/shaders.js
    this.target = gl.createFramebuffer();
    this.empty = gl.createVertexArray();
    this.width = this.height = 0;
    if (this.head) {
      this.keep(this.kept, false, false);
      this.setBox(this.head);
    }
    this.setRings(this.rings);
  }

  // Fit the canvas, and the texture of sums of light, to the size on the screen.
  resize() {
    const gl = this.gl, scale = Math.min(2, window.devicePixelRatio || 1);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * scale));
    const h = Math.max(1, Math.round(this.canvas.clientHeight * scale));
    this.scale = scale;
    if (w === this.width && h === this.height) {
      return;
    }
    this.canvas.width = this.width = w;
    this.canvas.height = this.height = h;
    gl.bindTexture(gl.TEXTURE_2D, this.sum);
    gl.texImage2D(gl.TEXTURE_2D, 0, this.half ? gl.RGBA16F : gl.RGBA8, w, h, 0, gl.RGBA,
                  this.half ? gl.HALF_FLOAT : gl.UNSIGNED_BYTE, null);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.NEAREST],
                                 [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
                                 [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
                                 [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.sum, 0);
    this.wipe = this.dirty = true;
  }

  // Take a message of points; its layout is that of web_points in web/web.h. It is kept until the
  // next. @return the message before, which is not needed any more; null: there was none
  setPoints(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const f32 = at => view.getFloat32(at, true), u32 = at => view.getUint32(at, true);
    const three = at => [f32(at), f32(at + 4), f32(at + 8)];
    const bits = u32(44), now = performance.now();
    // all: particles of which `shown` are in the message; item: bytes of a point; dim: 2 or 3;
    // direction: offset of the direction in a point, 0: none; the other names are those of
    // web_scene
    const head = {step: view.getFloat64(0, true), time: view.getFloat64(8, true),
                  all: view.getFloat64(16, true), item: u32(24), colour: u32(28),
                  range: [f32(32), f32(36)], dim: u32(40), bits,
                  wraps: [bits & 1, bits >> 1 & 1, bits >> 2 & 1], origin: three(48),
                  rows: [three(60), three(72), three(84)], frame: u32(96), epoch: u32(100),
                  direction: u32(104)};
    head.shown = Math.floor((bytes.length - HEAD_BYTES) / head.item);
    head.few = head.item < 16;      // coordinates are uint16, else float
    const before = this.head, key = h => JSON.stringify([h.origin, h.rows, h.wraps]);
    const same = before && before.epoch === head.epoch && key(before) === key(head) &&
                 before.item === head.item;
    const gap = now - (this.arrived || 0);
    this.arrived = now;
    this.gap = same && head.few ? 0.8 * (this.gap || gap) + 0.2 * gap : 0;
    this.glide = same && head.few && this.gap < 600 && head.step > before.step;
    const kept = this.kept || null;
    this.kept = bytes;
    this.head = head;
    const again = same && head.step === before.step;    // the frame came again, with other colours
    this.way = again ? this.way : same ? this.wayFrom(kept) : 0;
    this.keep(bytes, again, same && (head.few ? head.step > before.step
                                              : head.frame === before.frame + 1));
    this.wipe = this.wipe || !before || before.epoch !== head.epoch ||
                before.colour !== head.colour;
    if (before && (before.epoch !== head.epoch || this.mark >= head.shown)) {
      this.mark = -1;
    }
    if (!before || key(before) !== key(head)) {
      this.setBox(head, !before);
    }
    this.measure(now);
    this.dirty = true;
    return kept;
  }

  // Copy the points to a buffer of the graphics processor, and put it first in `past`. again: it
  // replaces the newest; goes: it continues the frames before, which are kept for glides and trails
  keep(bytes, again, goes) {
    const gl = this.gl, most = Math.max(2, this.level() ? this.pieces() + 1 : 2);
    if (again) {
      this.unused.push(this.past.shift());
    } else if (!goes) {
      this.unused.push(...this.past.splice(0));
    }
    while (this.past.length >= most) {
      this.unused.push(this.past.pop());
    }
    while (this.unused.length > 1) {
      gl.deleteBuffer(this.unused.pop().buffer);
    }
    const frame = this.unused.pop() || {buffer: gl.createBuffer()};
    gl.bindBuffer(gl.ARRAY_BUFFER, frame.buffer);
    gl.bufferData(gl.ARRAY_BUFFER,
                  bytes.subarray(HEAD_BYTES, HEAD_BYTES + this.head.shown * this.head.item),
                  gl.DYNAMIC_DRAW);
    frame.count = this.head.shown;
    this.past.unshift(frame);
  }

  // The way that particles went since the message before: the median of 15 of them, by the shorter
  // way across periodic faces.
  wayFrom(before) {
    const h = this.head, most = (before.length - HEAD_BYTES) / h.item;
    const ways = Array.from({length: Math.min(15, h.shown, most)}, (_, k) => {
      const a = this.fractions(k, before), way = this.fractions(k).map((x, e) => x - a[e]);
      return Math.hypot(...way.map((x, e) => (x - h.wraps[e] * Math.round(x)) *
                                             Math.hypot(...h.rows[e])));
    }).sort((a, b) => a - b);
    return ways.length ? ways[ways.length >> 1] : 0;
  }

  // Place of a point of a message, as fractions of the box.
  fractions(k, message = this.kept) {
    const h = this.head, at = message.byteOffset + HEAD_BYTES + k * h.item;
    const view = new DataView(message.buffer, at);
    return [0, 1, 2].map(e => h.few ? (view.getUint16(2 * e, true) + 0.5) / 65536
                                    : view.getFloat32(4 * e, true));
  }

  // Position of a point from fractions of the box.
  inBox(f) {
    const h = this.head;
    return h.origin.map((o, e) => o + f[0] * h.rows[0][e] + f[1] * h.rows[1][e] +
                                  (h.dim === 3 ? f[2] * h.rows[2][e] : 0));
  }

  // Set the length of bodies to the median distance of some particles to their nearest neighbour,
  // within limits, and smoothed over time. Neighbours are searched among the first n points, a
  // random choice; distances among all h.shown points are smaller by (n / h.shown)^(1 / dim).
  measure(now) {
    const h = this.head, tries = 32, n = Math.min(h.shown, MOST_MEASURED);
    if (!h.direction || h.shown < 2 || h.shown > MOST_FORCED ||
        this.length && now - this.measured < 1500) {
      this.length = this.length || 0.5 * this.spacing;
      return;
    }
    this.measured = now;
    const side = h.rows.map(r => Math.hypot(...r)), wide = h.few ? 1 / 65536 : 1;
    const every = h.item / (h.few ? 2 : 4), from = this.kept.byteOffset + HEAD_BYTES;
    const data = h.few ? new Uint16Array(this.kept.buffer, from, n * every)
                       : new Float32Array(this.kept.buffer, from, n * every);
    const least = new Float64Array(Math.min(tries, n)).fill(Infinity), way = new Float64Array(3);
    for (let i = 0; i < least.length; i++) {
      for (let j = 0; j < n; j++) {
        for (let e = 0; e < h.dim; e++) {
          const x = wide * (data[i * every + e] - data[j * every + e]);
          way[e] = side[e] * (x - h.wraps[e] * Math.round(x));
        }
        const r2 = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
        least[i] = j !== i && r2 < least[i] ? r2 : least[i];
      }
    }
    const gaps = least.map(Math.sqrt).sort();
    const gap = gaps[gaps.length >> 1] * Math.pow(n / h.shown, 1 / h.dim);
    const length = Math.max(0.12 * this.spacing, Math.min(0.9 * this.spacing, gap));
    this.length = this.length && Math.abs(length / this.length - 1) < 3
        ? 0.75 * this.length + 0.25 * length : length;
  }

  // Take the box of a message: its edges, its middle, the ball that the camera sees, and `spacing`.
  setBox(head, first) {
    const gl = this.gl, corner = [], lines = [], [a, b, c] = head.rows;
    for (let k = 0; k < 8; k++) {
      corner.push(head.origin.map((o, e) => o + (k & 1) * a[e] + (k >> 1 & 1) * b[e] +
                                            (k >> 2 & 1 && head.dim === 3 ? c[e] : 0)));
    }
    for (let k = 0; k < 8; k++) {
      for (let bit = 1; bit < 8; bit <<= 1) {
        if (!(k & bit)) {
          lines.push(...corner[k], ...corner[k | bit]);
        }
      }
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.edges);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(lines), gl.STATIC_DRAW);
    const middle = corner[0].map((x, e) => (x + corner[7][e]) / 2);
    const span = Math.max(...corner.map(p => Math.hypot(...p.map((x, e) => x - middle[e]))));
    this.camera.radius = head.dim === 2 ? 0.56 * span : 0.82 * span;
    const volume = head.rows.slice(0, head.dim).reduce((v, r) => v * Math.hypot(...r), 1);
    this.spacing = Math.pow(volume / Math.max(1, head.shown), 1 / head.dim);
    this.middle = middle;
    if (first) {
      this.home();
    }
  }

  // Move the camera back to where it was at first.
  home() {
    const flat = this.head && this.head.dim === 2;
    this.camera.yaw = flat ? 0 : 0.65;
    this.camera.pitch = flat ? Math.PI / 2 : 0.42;
    this.camera.zoom = 1;
    this.camera.centre = (this.middle || [0, 0, 0]).slice();
    this.follow = false;
    this.dirty = this.wipe = true;
  }

  // Set the circles around groups. rings: [{centre, radius, label (its colour), chosen}]
  setRings(rings) {
    const gl = this.gl, data = new Float32Array(6 * rings.length);
    rings.forEach((r, k) => data.set([...r.centre, r.radius, r.label, r.chosen ? 1 : 0], 6 * k));
    this.rings = rings;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.circles);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    this.dirty = true;
  }

  // Project a position. @return x, y on the screen [CSS pixels]; depth, below 0 behind the eye;
  // scale, CSS pixels per unit of length at this depth
  project(p) {
    const m = this.matrix || this.camera.matrix(1), out = [0, 0, 0, 0];
    for (let r = 0; r < 4; r++) {
      out[r] = m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r];
    }
    const w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    return {x: (out[0] / out[3] + 1) / 2 * w, y: (1 - out[1] / out[3]) / 2 * h, depth: out[3],
            scale: h / 2 / Math.tan(FIELD / 2) / out[3]};
  }

  // Index of the point nearest to a place on the screen [CSS pixels]; -1: none within so many.
  pointAt(x, y, most) {
    const h = this.head, m = this.matrix, half = [this.canvas.clientWidth / 2,
                                                  this.canvas.clientHeight / 2];
    if (!h || !m || !this.kept) {
      return -1;
    }
    const turned = (v, one) => [0, 1, 3].map(r => m[r] * v[0] + m[4 + r] * v[1] + m[8 + r] * v[2] +
                                                  one * m[12 + r]);
    const start = turned(h.origin, 1), [a, b, c] = h.rows.map(row => turned(row, 0));
    const every = h.item / (h.few ? 2 : 4), unit = h.few ? 1 / 65536 : 1;
    const Data = h.few ? Uint16Array : Float32Array;
    const data = new Data(this.kept.buffer, this.kept.byteOffset + HEAD_BYTES, h.shown * every);
    let best = -1, least = most * most;
    for (let k = 0, at = 0; k < h.shown; k++, at += every) {
      const f = unit * data[at], g = unit * data[at + 1], e = h.dim === 3 ? unit * data[at + 2] : 0;
      const w = start[2] + f * a[2] + g * b[2] + e * c[2];
      const dx = ((start[0] + f * a[0] + g * b[0] + e * c[0]) / w + 1) * half[0] - x;
      const dy = (1 - (start[1] + f * a[1] + g * b[1] + e * c[1]) / w) * half[1] - y;
      const gap = dx * dx + dy * dy;
      if (w > 0 && gap < least) {
        [best, least] = [k, gap];
      }
    }
    return best;
  }

  // Bind an attribute to the current buffer. divisor: 0 one for each vertex, 1 for each instance
  attribute(index, width, type, stride, offset, divisor) {
    const gl = this.gl;
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, width, type, false, stride, offset);
    gl.vertexAttribDivisor(index, divisor || 0);
  }

  // The level of detail of particles: POINTS_OF_LIGHT, ARROWS or BIRDS of web/bodies.js.
  level() {
    if (!this.head || !this.length) {
      return POINTS_OF_LIGHT;
    }
    const pixels = this.length * this.style.size * this.project(this.camera.centre).scale;
    return Bodies.level(this.head, this.style.bodies, pixels, this.thrift);
  }

  // Pieces of a trail of a body, one for each frame that is kept.
  pieces() {
    return this.thrift ? 0 : Bodies.pieces(this.head.shown, this.style.trails,
                                           this.way / this.length);
  }

  // Select a program, and set its uniforms of PARTICLE in web/shaders.js. size: length of a body or
  // point, its least and its largest size on the screen [pixels]; t: 0 to 1, time between the last
  // two frames; weight: of a point of light
  setParticle(program, size, t, weight) {
    const gl = this.gl, h = this.head, u = program.at, cam = this.camera;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(u.camera, false, this.matrix);
    gl.uniform1f(u.paper, this.paper);
    gl.uniform3fv(u.origin, h.origin);
    gl.uniform3fv(u.rowA, h.rows[0]);
    gl.uniform3fv(u.rowB, h.rows[1]);
    gl.uniform3fv(u.rowC, h.dim === 3 ? h.rows[2] : [0, 0, 0]);
    gl.uniform3fv(u.wraps, h.wraps);
    this.unit = h.few ? 1 / 65536 : 1;
    gl.uniform4f(u.how, this.unit, t, h.colour, weight);
    gl.uniform4f(u.size, ...size, this.height / Math.tan(FIELD / 2) / 2);
    const d = cam.distance(this.width / this.height);
    gl.uniform2f(u.depth, d - cam.radius, d + cam.radius);
  }

  // Attributes 0 to 3, from two frames. each: 0 as vertices, 1 as instances
  bindParticle(next, last, each) {
    const gl = this.gl, h = this.head, type = h.few ? gl.UNSIGNED_SHORT : gl.FLOAT;
    gl.bindBuffer(gl.ARRAY_BUFFER, last.buffer);
    this.attribute(1, 3, type, h.item, 0, each);
    gl.bindBuffer(gl.ARRAY_BUFFER, next.buffer);
    this.attribute(0, 3, type, h.item, 0, each);
    this.attribute(2, 1, gl.UNSIGNED_SHORT, h.item, h.few ? 6 : 12, each);
    if (h.direction) {
      this.attribute(3, 1, gl.UNSIGNED_SHORT, h.item, h.direction, each);
    } else {
      gl.disableVertexAttribArray(3);
      gl.vertexAttrib1f(3, 0);
    }
  }

  // Disable the attributes 0 to 3, which may be those of instances.
  unbindParticle() {
    for (let k = 0; k < 4; k++) {
      this.gl.vertexAttribDivisor(k, 0);
      this.gl.disableVertexAttribArray(k);
    }
  }

  // Add the points of light to the sums. Their weight decreases with their number, and by 1 - keep,
  // as a fraction `keep` of the frames before is still there. t: see setParticle
  drawGlow(t, keep) {
    const gl = this.gl, shown = this.head.shown;
    const crowd = Math.min(1, Math.max(0.1, Math.pow(2e4 / Math.max(1, shown), 0.34)));
    const size = [0.75 * this.style.size * this.spacing,
                  3.2 * this.scale * Math.sqrt(this.style.size), 60 * this.scale];
    this.setParticle(this.points, size, t, 1.5 * crowd * (1 - keep));
    this.bindParticle(this.past[0], this.past[t < 1 ? 1 : 0], 0);
    gl.drawArrays(gl.POINTS, 0, shown);
  }

  // Draw the edges of the box, the circles around groups, and that of the marked point.
  drawLines() {
    const gl = this.gl, u = this.lines.at, {right, up} = this.camera.axes();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.lines.program);
    gl.uniformMatrix4fv(u.camera, false, this.matrix);
    gl.uniform1f(u.paper, this.paper);
    gl.uniform3fv(u.right, right);
    gl.uniform3fv(u.up, up);
    gl.uniform1f(u.least, 9 * this.scale * 2 * Math.tan(FIELD / 2) / this.height);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.edges);
    this.attribute(0, 3, gl.FLOAT, 12, 0);
    gl.disableVertexAttribArray(1);
    gl.disableVertexAttribArray(2);
    gl.disableVertexAttribArray(3);
    gl.vertexAttrib4f(1, 0, 0, 0, 0);
    gl.drawArrays(gl.LINES, 0, this.head.dim === 2 ? 8 : 24);
    gl.disable(gl.DEPTH_TEST);
    if (this.rings.length && this.showRings) {
      this.drawCircles(this.circles, this.rings.length);
    }
    if (this.marked) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.markCircle);
      gl.bufferData(gl.ARRAY_BUFFER,
                    new Float32Array([...this.marked, 0.9 * this.length, 0, 1]), gl.DYNAMIC_DRAW);
      this.drawCircles(this.markCircle, 1);
    }
  }

  // Draw n circles: centre, radius, colour and choice of each are six floats of the buffer.
  drawCircles(buffer, n) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.circle);
    this.attribute(0, 3, gl.FLOAT, 12, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    this.attribute(1, 4, gl.FLOAT, 24, 0, 1);
    this.attribute(2, 2, gl.FLOAT, 24, 16, 1);
    gl.drawArraysInstanced(gl.LINE_LOOP, 0, RING, n);
    this.unbindParticle();
  }

  // Move the circle, and the camera that follows, to where the marked point is at time t.
  goWithMark(t) {
    this.marked = null;
    if (this.mark < 0 || this.mark >= this.head.shown) {
      return;
    }
    const h = this.head, f = this.fractions(this.mark);
    if (this.markFrame !== h.step || this.markOf !== this.mark) {
      this.markLast = this.markOf === this.mark && this.glide ? this.markNext : f;
      [this.markNext, this.markOf, this.markFrame] = [f, this.mark, h.step];
    }
    const now = f.map((b, e) => {
      const a = this.markLast[e], way = b - a, wraps = h.wraps[e];
      const x = a + t * (way - wraps * Math.round(way));
      return x - wraps * Math.floor(x);
    });
    this.marked = this.inBox(now);
    if (this.follow) {
      this.camera.centre = this.marked.slice();
    }
  }

  // Draw if anything changed. @return true when it did
  draw(now) {
    const gl = this.gl;
    this.resize();
    const seconds = Math.min(0.2, (now - (this.drawn || now)) / 1000);
    if (this.spin && this.head) {
      this.camera.yaw += 0.15 * seconds;
      this.dirty = true;
    }
    const running = this.glide && now - this.arrived < 2 * this.gap + 50;
    const tail = this.style.trails > 0 && now - (this.changed || 0) < 1500;
    this.drawn = now;
    if (!this.head || gl.isContextLost() || !(this.dirty || running || tail)) {
      return false;
    }
    if (this.dirty || running) {
      this.changed = now;
    }
    const glide = this.glide && this.past.length > 1 &&
                  this.past[1].count >= this.past[0].count;
    const t = glide ? Math.min(1, (now - this.arrived) / Math.max(16, this.gap)) : 1;
    const aspect = this.width / this.height;
    this.goWithMark(t);
    this.beat += running && !this.calm ? 11 * seconds : 0;
    this.matrix = this.camera.matrix(aspect);
    this.eye = this.camera.eye(aspect);
    gl.viewport(0, 0, this.width, this.height);
    gl.disable(gl.DEPTH_TEST);
    const level = this.level();
    if (level) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      this.bodies.draw(this, level, this.past, t);
      this.wipe = true;
    } else {
      this.drawLight(t, seconds);
    }
    this.dirty = t < 1;
    this.drawLines();
    this.things && this.things.paint(now);
    return true;
  }

  // Draw points of light: fade the sums of the frames before, add the points, then convert the sums
  // to colours of the screen. seconds: since the last picture
  drawLight(t, seconds) {
    const gl = this.gl, moving = this.head.epoch !== undefined && this.head.few;
    const keep = this.half && moving && !this.wipe
        ? Math.exp(-Math.max(seconds, 0.008) / (0.001 + 0.35 * this.style.trails)) : 0;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    this.things && this.things.fit();
    gl.enable(gl.BLEND);
    if (keep > 0) {
      gl.blendFunc(gl.ZERO, gl.SRC_ALPHA);
      gl.useProgram(this.fade.program);
      gl.uniform1f(this.fade.at.keep, keep);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    } else {
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
    }
    gl.blendFunc(gl.ONE, gl.ONE);
    this.things && this.things.hide();
    this.drawGlow(t, keep);
    this.wipe = false;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.useProgram(this.tone.program);
    gl.bindTexture(gl.TEXTURE_2D, this.sum);
    const plain = this.head.colour === 0;
    if (plain) {
      gl.generateMipmap(gl.TEXTURE_2D); // its last level is the mean, to which colours are scaled
    }
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER,
                     plain ? gl.NEAREST_MIPMAP_NEAREST : gl.NEAREST);
    gl.uniform1f(this.tone.at.paper, this.paper);
    gl.uniform1f(this.tone.at.plain, plain ? 1 : 0);
    gl.uniform1f(this.tone.at.exposure, this.style.exposure);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  // For tests: the fraction of pixels whose colour differs from that of the background, taken from
  // the first pixel, a corner.
  lit() {
    this.dirty = true;
    this.draw(performance.now());
    const gl = this.gl, n = this.width * this.height, data = new Uint8Array(4 * n);
    gl.readPixels(0, 0, this.width, this.height, gl.RGBA, gl.UNSIGNED_BYTE, data);
    let lit = 0;
    for (let k = 0; k < n; k++) {
      lit += [0, 1, 2].some(e => Math.abs(data[4 * k + e] - data[e]) > 50);
    }
    return lit / n;
  }
}
