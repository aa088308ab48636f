// SPDX-License-Identifier: BSD-3-Clause
// Particles on the screen, through WebGL 2.
"use strict";

const RING = 64, FIELD = 0.75;      // corners of a circle; field of view [radian]

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

class Camera {
  constructor() {
    this.yaw = 0.65;
    this.pitch = 0.42;
    this.zoom = 1;
    this.centre = [0, 0, 0];
    this.radius = 1;
    this.aside = [0, 0];    // where the middle of the picture is: beside the panel
  }

  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch),
                              Math.sin(this.pitch)];
    return {right: [cy, sy, 0], up: [-sy * sp, cy * sp, cp], back: [sy * cp, -cy * cp, sp]};
  }

  // Column-major projection times view.
  matrix(aspect) {
    const {right, up, back} = this.axes();
    const distance = this.distance(aspect);
    const near = distance * 0.01, far = distance + 6 * this.radius;
    const eye = this.centre.map((c, k) => c + distance * back[k]);
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

  distance(aspect) {
    return 1.22 * this.radius / Math.sin(FIELD / 2) / this.zoom /
           Math.min(1 - Math.abs(this.aside[1]), aspect * (1 - Math.abs(this.aside[0])));
  }
}

class Scene {
  constructor(canvas) {
    this.canvas = canvas;
    this.camera = new Camera();
    this.head = null;
    this.rings = [];
    this.style = {size: 1, exposure: 1, trails: 0.5};
    this.showRings = true;
    this.spin = false;
    this.dirty = true;
    this.still = 0;
    canvas.addEventListener("webglcontextlost", e => e.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.start());
    this.start();
  }

  start() {
    const gl = this.gl = this.canvas.getContext("webgl2",
        {antialias: false, alpha: false, powerPreference: "high-performance"});
    if (!gl) {
      throw new Error("this browser has no WebGL 2");
    }
    this.half = gl.getExtension("EXT_color_buffer_float") ||
                gl.getExtension("EXT_color_buffer_half_float");
    this.points = compile(gl, POINT_VERTEX, POINT_PIXEL);
    this.tone = compile(gl, SCREEN_VERTEX, TONE_PIXEL);
    this.fade = compile(gl, SCREEN_VERTEX, FADE_PIXEL);
    this.lines = compile(gl, LINE_VERTEX, LINE_PIXEL);
    this.next = {buffer: gl.createBuffer(), count: 0, item: 8};
    this.last = {buffer: gl.createBuffer(), count: 0, item: 8};
    this.edges = gl.createBuffer();
    this.circle = gl.createBuffer();
    this.circles = gl.createBuffer();
    const corners = new Float32Array(3 * RING);
    for (let k = 0; k < RING; k++) {
      corners[3 * k] = Math.cos(2 * Math.PI * k / RING);
      corners[3 * k + 1] = Math.sin(2 * Math.PI * k / RING);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.circle);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    this.sum = gl.createTexture();
    this.target = gl.createFramebuffer();
    this.empty = gl.createVertexArray();
    this.width = this.height = 0;
    if (this.head) {
      this.setBox(this.head);
    }
    this.setRings(this.rings);
  }

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

  // Take a message of points; its layout is that of web_points in web/web.h.
  setPoints(bytes) {
    const gl = this.gl, view = new DataView(bytes.buffer, bytes.byteOffset);
    const f32 = at => view.getFloat32(at, true), u32 = at => view.getUint32(at, true);
    const three = at => [f32(at), f32(at + 4), f32(at + 8)];
    const bits = u32(44), now = performance.now();
    const head = {step: view.getFloat64(0, true), time: view.getFloat64(8, true),
                  all: view.getFloat64(16, true), item: u32(24), colour: u32(28),
                  range: [f32(32), f32(36)], dim: u32(40), bits,
                  wraps: [bits & 1, bits >> 1 & 1, bits >> 2 & 1], origin: three(48),
                  rows: [three(60), three(72), three(84)], frame: u32(96), epoch: u32(100)};
    head.shown = Math.floor((bytes.length - 112) / head.item);
    const before = this.head, key = h => JSON.stringify([h.origin, h.rows, h.wraps]);
    const same = before && before.epoch === head.epoch && key(before) === key(head) &&
                 before.item === head.item && head.item === 8;
    const gap = now - (this.arrived || 0);
    this.arrived = now;
    this.gap = same ? 0.8 * (this.gap || gap) + 0.2 * gap : 0;
    this.glide = same && this.gap < 600 && head.step > before.step;
    [this.last, this.next] = [this.next, this.last];
    gl.bindBuffer(gl.ARRAY_BUFFER, this.next.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes.subarray(112, 112 + head.shown * head.item),
                  gl.DYNAMIC_DRAW);
    this.next.count = head.shown;
    this.next.item = head.item;
    this.head = head;
    this.wipe = this.wipe || !before || before.epoch !== head.epoch ||
                before.colour !== head.colour;
    if (!before || key(before) !== key(head)) {
      this.setBox(head, !before);
    }
    this.dirty = true;
  }

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
    this.camera.radius = head.dim === 2 ? 0.72 * span : 0.82 * span;
    const volume = head.rows.slice(0, head.dim).reduce((v, r) => v * Math.hypot(...r), 1);
    this.spacing = Math.pow(volume / Math.max(1, head.shown), 1 / head.dim);
    this.middle = middle;
    if (first) {
      this.home();
    }
  }

  home() {
    const flat = this.head && this.head.dim === 2;
    this.camera.yaw = flat ? 0 : 0.65;
    this.camera.pitch = flat ? Math.PI / 2 : 0.42;
    this.camera.zoom = 1;
    this.camera.centre = (this.middle || [0, 0, 0]).slice();
    this.dirty = this.wipe = true;
  }

  setRings(rings) {
    const gl = this.gl, data = new Float32Array(6 * rings.length);
    rings.forEach((r, k) => data.set([...r.centre, r.radius, r.label, r.chosen ? 1 : 0], 6 * k));
    this.rings = rings;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.circles);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    this.dirty = true;
  }

  // Where a place is on the screen [CSS pixels], and how far a length reaches there.
  project(p) {
    const m = this.matrix || this.camera.matrix(1), out = [0, 0, 0, 0];
    for (let r = 0; r < 4; r++) {
      out[r] = m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r];
    }
    const w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    return {x: (out[0] / out[3] + 1) / 2 * w, y: (1 - out[1] / out[3]) / 2 * h, depth: out[3],
            scale: h / 2 / Math.tan(FIELD / 2) / out[3]};
  }

  attribute(index, width, type, stride, offset, divisor) {
    const gl = this.gl;
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, width, type, false, stride, offset);
    gl.vertexAttribDivisor(index, divisor || 0);
  }

  drawPoints(now, keep) {
    const gl = this.gl, h = this.head, u = this.points.at, cam = this.camera;
    const few = h.item === 8, type = few ? gl.UNSIGNED_SHORT : gl.FLOAT;
    const glide = this.glide && this.last.count >= this.next.count;
    const t = glide ? Math.min(1, (now - this.arrived) / Math.max(16, this.gap)) : 1;
    gl.useProgram(this.points.program);
    gl.uniformMatrix4fv(u.camera, false, this.matrix);
    gl.uniform3fv(u.origin, h.origin);
    gl.uniform3fv(u.rowA, h.rows[0]);
    gl.uniform3fv(u.rowB, h.rows[1]);
    gl.uniform3fv(u.rowC, h.dim === 3 ? h.rows[2] : [0, 0, 0]);
    gl.uniform3fv(u.wraps, few ? h.wraps : [0, 0, 0]);
    const crowd = Math.min(1, Math.max(0.1, Math.pow(2e4 / Math.max(1, h.shown), 0.34)));
    gl.uniform4f(u.how, few ? 1 / 65536 : 1, t, h.colour, 1.5 * crowd * (1 - keep));
    gl.uniform4f(u.size, 0.75 * this.style.size * this.spacing,
                 3.2 * this.scale * Math.sqrt(this.style.size), 60 * this.scale,
                 this.height / Math.tan(FIELD / 2) / 2);
    const d = cam.distance(this.width / this.height);
    gl.uniform2f(u.depth, d - cam.radius, d + cam.radius);
    for (const [index, from] of [[0, this.next], [1, glide ? this.last : this.next]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, from.buffer);
      this.attribute(index, 3, type, h.item, 0);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.next.buffer);
    this.attribute(2, 1, gl.UNSIGNED_SHORT, h.item, few ? 6 : 12);
    gl.drawArrays(gl.POINTS, 0, this.next.count);
    return t < 1;
  }

  drawLines() {
    const gl = this.gl, u = this.lines.at, {right, up} = this.camera.axes();
    gl.useProgram(this.lines.program);
    gl.uniformMatrix4fv(u.camera, false, this.matrix);
    gl.uniform3fv(u.right, right);
    gl.uniform3fv(u.up, up);
    gl.uniform1f(u.least, 9 * this.scale * 2 * Math.tan(FIELD / 2) / this.height);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.edges);
    this.attribute(0, 3, gl.FLOAT, 12, 0);
    gl.disableVertexAttribArray(1);
    gl.disableVertexAttribArray(2);
    gl.vertexAttrib4f(1, 0, 0, 0, 0);
    gl.drawArrays(gl.LINES, 0, this.head.dim === 2 ? 8 : 24);
    if (this.rings.length && this.showRings) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.circle);
      this.attribute(0, 3, gl.FLOAT, 12, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.circles);
      this.attribute(1, 4, gl.FLOAT, 24, 0, 1);
      this.attribute(2, 2, gl.FLOAT, 24, 16, 1);
      gl.drawArraysInstanced(gl.LINE_LOOP, 0, RING, this.rings.length);
      this.attribute(1, 4, gl.FLOAT, 24, 0, 0);
      this.attribute(2, 2, gl.FLOAT, 24, 16, 0);
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
    this.matrix = this.camera.matrix(this.width / this.height);
    const moving = this.head.epoch !== undefined && this.head.item === 8;
    const keep = this.half && moving && !this.wipe
        ? Math.exp(-Math.max(seconds, 0.008) / (0.001 + 0.35 * this.style.trails)) : 0;
    gl.viewport(0, 0, this.width, this.height);
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
    this.dirty = this.drawPoints(now, keep);
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
    gl.uniform1f(this.tone.at.plain, plain ? 1 : 0);
    gl.uniform1f(this.tone.at.exposure, this.style.exposure);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.drawLines();
    this.things && this.things.paint(now);
    return true;
  }

  // The share of pixels that particles light up.
  lit() {
    this.dirty = true;
    this.draw(performance.now());
    const gl = this.gl, n = this.width * this.height, data = new Uint8Array(4 * n);
    gl.readPixels(0, 0, this.width, this.height, gl.RGBA, gl.UNSIGNED_BYTE, data);
    let lit = 0;
    for (let k = 0; k < n; k++) {
      lit += Math.max(data[4 * k], data[4 * k + 1], data[4 * k + 2]) > 60;
    }
    return lit / n;
  }
}
