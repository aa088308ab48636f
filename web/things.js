// SPDX-License-Identifier: BSD-3-Clause
// Obstacles and attractors ("things"): drawn, dragged, added and removed. Spheres hide the points
// behind them: their depth is drawn before the points, which are then depth-tested. The colours of
// things are blended last by 1 - (1 - thing) (1 - points), so that points in front of them stay
// bright. A change is sent as a command; the server then sends the new list.
"use strict";

const THING_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
uniform mat4 camera;
uniform vec3 centre;
uniform mat3 shape;     // edges of the unit cube that holds the shape
out vec3 at, face;
void main() {
  at = centre + shape * place;
  face = shape * place;
  gl_Position = camera * vec4(at, 1.0);
}`;

const THING_PIXEL = `#version 300 es
precision highp float;
in vec3 at, face;
uniform vec3 eye;
uniform vec4 tint;
uniform float paper;    // 1: on light ground, which the thing takes light from
uniform float round;    // 1: a sphere; 0: flat faces; -1: without light
out vec4 colour;
void main() {
  vec3 way = normalize(eye - at);
  vec3 n = round > 0.0 ? normalize(face) : normalize(cross(dFdx(at), dFdy(at)));
  float towards = abs(dot(n, way));
  float light = 0.30 + 0.45 * towards * (0.6 + 0.4 * n.z) + 0.7 * pow(1.0 - towards, 3.0);
  vec3 shown = mix(tint.rgb, 1.0 - 0.8 * tint.rgb, paper);
  colour = vec4(shown * tint.a * (round < 0.0 ? 1.0 : light), 1.0);
}`;

// Colours by kind; "away" is a point that repels.
const TINTS = {point: [0.35, 1.0, 0.65], away: [1.0, 0.45, 0.35], sphere: [0.42, 0.50, 0.78],
               wall: [0.42, 0.50, 0.78], predator: [1.0, 0.50, 0.20]};

const add3 = (a, b, s = 1) => a.map((x, k) => x + s * b[k]);
const dot3 = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit3 = a => a.map(x => x / Math.max(1e-30, Math.hypot(...a)));
const cross3 = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                          a[0] * b[1] - a[1] * b[0]];

// Triangles of a unit sphere, and of an octahedron.
function sphereMesh() {
  const ball = (u, v) => [Math.sin(v) * Math.cos(u), Math.sin(v) * Math.sin(u), Math.cos(v)];
  const out = [], AROUND = 48, UP = 24;
  for (let j = 0; j < UP; j++) {
    for (let k = 0; k < AROUND; k++) {
      const corner = (a, b) => ball(2 * Math.PI * (k + a) / AROUND, Math.PI * (j + b) / UP);
      out.push(...corner(0, 0), ...corner(0, 1), ...corner(1, 1),
               ...corner(0, 0), ...corner(1, 1), ...corner(1, 0));
    }
  }
  return out;
}

function octahedronMesh() {
  const out = [];
  for (let k = 0; k < 8; k++) {
    for (let axis = 0; axis < 3; axis++) {
      out.push(...[0, 1, 2].map(e => e === axis ? (k >> axis & 1 ? 1 : -1) : 0));
    }
  }
  return out;
}

// Corners of the section of a plane with a box, sorted by their angle; in 2-D a strip of width
// `thick` behind the line. Empty: the plane misses the box.
function planeCorners(head, place, normal, thick) {
  const [a, b, c] = head.rows, flat = head.dim === 2, corner = [], found = [];
  for (let k = 0; k < (flat ? 4 : 8); k++) {
    corner.push(head.origin.map((o, e) => o + (k & 1) * a[e] + (k >> 1 & 1) * b[e] +
                                          (k >> 2 & 1) * c[e]));
  }
  place = add3(place, normal, 0.01 * thick);      // inwards a little: a wall on a face is drawn
  const above = corner.map(p => dot3(normal, add3(p, place, -1)));
  for (let k = 0; k < corner.length; k++) {
    for (let bit = 1; bit < corner.length; bit <<= 1) {
      const j = k | bit;
      if (j !== k && above[k] < 0 !== above[j] < 0) {
        const t = above[k] / (above[k] - above[j]);
        found.push(corner[k].map((x, e) => x + t * (corner[j][e] - x)));
      }
    }
  }
  if (found.length < 2) {
    return [];
  }
  if (flat) {
    return [...found, ...found.slice(0, 2).reverse().map(p => add3(p, normal, -thick))];
  }
  const middle = found.reduce((s, p) => add3(s, p, 1 / found.length), [0, 0, 0]);
  const u = unit3(add3(found[0], middle, -1)), v = cross3(normal, u);
  const angle = p => Math.atan2(dot3(add3(p, middle, -1), v), dot3(add3(p, middle, -1), u));
  return found.sort((p, q) => angle(p) - angle(q));
}

// The things of a flock, their buttons on the page, and their drawing. view: the page
class Things {
  constructor(view) {
    this.view = view;
    this.scene = view.scene;
    this.scene.things = this;
    this.list = [];         // things, as the server sent them, with from and heading (see set)
    this.most = 16;         // things that there may be
    this.chosen = -1;       // index of the selected thing; -1: none
    this.adding = null;     // kind that the next click adds; null: none
    this.held = null;       // {index, x, y, moved} of the thing that is dragged; null: none
    this.buttons = {};
    const make = kind => {
      this.buttons[kind] = element("button", {onclick: () => this.arm(kind),
                                              title: `Add a ${kind} by a click`}, `+ ${kind}`);
      this.buttons[kind].setAttribute("aria-pressed", "false");
      return this.buttons[kind];
    };
    this.rows = element("div", {className: "row"});
    $("things").append(element("div", {className: "row"},
                               ...["point", "sphere", "wall", "predator"].map(make)), this.rows);
  }

  // Take the message WEB_THINGS. s: {most, things: [{kind, place, normal, radius, speed, weight,
  // reach}]}. A thing gets `from`, its place before, from which it glides, and `heading`, the
  // direction of its last step. gap: mean time between messages, for which the glide lasts [ms]; 0:
  // no glide
  set(s) {
    const before = this.list, now = performance.now();
    const kept = before.length === s.things.length;
    const gap = now - (this.arrived || now);
    this.gap = gap < 600 ? 0.8 * (this.gap || gap) + 0.2 * gap : 0;
    this.arrived = now;
    this.most = s.most;
    this.list = s.things.map((t, k) => {
      const old = kept && before[k].kind === t.kind ? before[k] : null;
      if (old && this.held && this.held.index === k) {
        return Object.assign(t, {place: old.place, from: old.place, heading: old.heading});
      }
      const step = old ? add3(t.place, old.place, -1) : [0, 0, 0], long = Math.hypot(...step);
      const jumps = long > 0.2 * this.scene.camera.radius;
      t.from = old && !jumps ? old.place : t.place;
      t.heading = long > 0 && !jumps ? unit3(step) : old && old.heading || [1, 0, 0];
      return t;
    });
    if (!kept) {
      this.chosen = -1;
    }
    this.listThem();
    this.scene.dirty = true;
  }

  // Show a button for each thing, if the list has changed.
  listThem() {
    const key = this.list.map(t => t.kind).join() + this.chosen;
    if (key === this.listed) {
      return;
    }
    this.listed = key;
    this.rows.replaceChildren(...this.list.map((t, k) => {
      const b = element("button", {onclick: () => this.remove(k), title: `Remove the ${t.kind}`},
                        `${t.kind} ×`);
      b.setAttribute("aria-pressed", String(k === this.chosen));
      return b;
    }));
    for (const b of Object.values(this.buttons)) {
      b.disabled = this.list.length >= this.most;
    }
  }

  // The next click adds a thing; a second press of the button adds it in the middle.
  arm(kind) {
    if (kind && this.adding === kind) {
      this.add(this.scene.camera.centre);
      return;
    }
    this.adding = kind;
    for (const [name, b] of Object.entries(this.buttons)) {
      b.setAttribute("aria-pressed", String(name === kind));
    }
    this.scene.canvas.style.cursor = kind ? "crosshair" : "";
    this.view.say(kind ? `click where the ${kind} is to be, or press the button once more` : "");
  }

  // Add a thing of the kind of the pressed button.
  add(place) {
    this.view.link.send({thing: {add: {kind: this.adding, place}}});
    this.arm(null);
  }

  remove(index) {
    if (this.list[index] && !this.fixed()) {
      this.view.link.send({thing: {remove: index}});
    }
  }

  // Return true when things cannot be changed: they are of a recording, or the run has ended.
  fixed() {
    return this.view.link.closed || this.view.state.kind !== "flock";
  }

  choose(index) {
    this.chosen = index;
    this.listThem();
    this.scene.dirty = true;
  }

  // The place below a point of the screen, in the plane through `through` that faces the eye.
  under(x, y, through) {
    const p = this.scene.project(through), {right, up} = this.scene.camera.axes();
    return add3(add3(through, right, (x - p.x) / p.scale), up, (p.y - y) / p.scale);
  }

  // The thing at a point of the screen; -1: none.
  find(x, y) {
    let best = -1, nearest = Infinity;
    this.list.forEach((t, k) => {
      const p = this.scene.project(t.place);
      const most = Math.max(14, t.kind === "sphere" ? t.radius * p.scale : 0);
      if (p.depth > 0 && Math.hypot(p.x - x, p.y - y) < most && p.depth < nearest) {
        [best, nearest] = [k, p.depth];
      }
    });
    return best;
  }

  // Begin to drag. @return true when there is a thing to drag
  grab(x, y) {
    const index = this.adding || this.fixed() || !this.scene.head ? -1 : this.find(x, y);
    this.held = index < 0 ? null : {index, x, y};
    return index >= 0;
  }

  // Move the held thing by some CSS pixels; its place is sent at most every 50 ms.
  drag(dx, dy) {
    const held = this.held, t = this.list[held.index];
    if (!t) {
      return;
    }
    const p = this.scene.project(t.place);
    t.place = t.from = this.under(p.x + dx, p.y + dy, t.place);
    held.moved = true;
    this.sending = this.sending || setTimeout(() => this.send(held), 50);
    this.scene.dirty = true;
  }

  send(held) {
    this.sending = null;
    const t = this.list[held.index];
    if (t && held.moved) {
      this.view.link.send({thing: {move: held.index, place: t.place}});
    }
  }

  // End a drag.
  drop() {
    if (this.held) {
      clearTimeout(this.sending);
      this.send(this.held);
      this.held = null;
    }
  }

  // A click. @return true when it was for things
  click(x, y) {
    if (this.adding) {
      this.add(this.under(x, y, this.scene.camera.centre));
      return true;
    }
    const index = this.find(x, y);
    if (index >= 0 || this.chosen >= 0) {
      this.choose(index);
    }
    return index >= 0;
  }

  // Make the program and the meshes for a context of WebGL.
  start(gl) {
    const program = compile(gl, THING_VERTEX, THING_PIXEL);
    const mesh = data => {
      const array = gl.createVertexArray(), buffer = gl.createBuffer();
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
      gl.bindVertexArray(null);
      return {array, buffer, count: data.length / 3};
    };
    const circle = [];
    for (let k = 0; k < RING; k++) {
      circle.push(Math.cos(2 * Math.PI * k / RING), Math.sin(2 * Math.PI * k / RING), 0);
    }
    this.gl = gl;
    this.made = {program, sphere: mesh(sphereMesh()), octahedron: mesh(octahedronMesh()),
                 circle: mesh(circle), any: mesh([0, 0, 0]), depth: gl.createRenderbuffer()};
    this.width = this.height = 0;
  }

  // Prepare to draw. @return false: there is nothing to draw
  begin() {
    const scene = this.scene, gl = scene.gl;
    if (!this.list.length || !scene.head) {
      return false;
    }
    if (!this.made || !gl.isProgram(this.made.program.program)) {
      this.start(gl);
    }
    const u = this.made.program.at, {back} = scene.camera.axes();
    const eye = add3(scene.camera.centre, back, scene.camera.distance(scene.width / scene.height));
    gl.useProgram(this.made.program.program);
    gl.uniformMatrix4fv(u.camera, false, scene.matrix);
    gl.uniform3fv(u.eye, eye);
    gl.uniform1f(u.paper, scene.paper);
    return true;
  }

  // Draw a mesh. columns: three vectors to which its x, y and z are mapped; round: see THING_PIXEL
  put(mesh, kind, centre, columns, tint, round) {
    const gl = this.gl, u = this.made.program.at;
    gl.uniform3fv(u.centre, centre);
    gl.uniformMatrix3fv(u.shape, false, columns.flat());
    gl.uniform4fv(u.tint, tint);
    gl.uniform1f(u.round, round);
    gl.bindVertexArray(mesh.array);
    gl.drawArrays(kind, 0, mesh.count);
  }

  // Centres of the images of a sphere that reach into the box: it reaches between the planes of any
  // two opposite faces.
  images(t) {
    const h = this.scene.head, out = [];
    const rows = h.dim === 2 ? [h.rows[0], h.rows[1], [0, 0, 1]] : h.rows;
    const normals = rows.map((r, k) => unit3(cross3(rows[(k + 1) % 3], rows[(k + 2) % 3])));
    const shifts = k => k < h.dim && h.wraps[k] ? [-1, 0, 1] : [0];
    for (const i of shifts(0)) {
      for (const j of shifts(1)) {
        for (const l of shifts(2)) {
          const way = [i, j, l];
          const centre = t.place.map((x, e) => x + i * h.rows[0][e] + j * h.rows[1][e] +
                                                 l * h.rows[2][e]);
          const reaches = way.every((s, k) => {
            const along = dot3(add3(centre, h.origin, -1), normals[k]);
            const height = dot3(rows[k], normals[k]);   // below 0 where the rows are left-handed
            return s === 0 || (along > Math.min(0, height) - t.radius &&
                               along < Math.max(0, height) + t.radius);
          });
          if (reaches) {
            out.push(centre);
          }
        }
      }
    }
    return out;
  }

  // Draw all spheres and their images. tint: brightness
  spheres(tint) {
    const gl = this.gl, r = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    this.list.forEach((t, k) => {
      for (const centre of t.kind === "sphere" ? this.images(t) : []) {
        this.put(this.made.sphere, gl.TRIANGLES, centre, r.map(c => c.map(x => x * t.radius)),
                 [...TINTS.sphere, tint * (k === this.chosen ? 1.6 : 1)], 1);
      }
    });
  }

  // Attach a depth buffer of its size to the framebuffer of points of light, or detach it where
  // there are no spheres.
  fit() {
    const scene = this.scene, gl = scene.gl;
    if (!this.list.some(t => t.kind === "sphere") || !this.begin()) {
      if (this.width) {
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, null);
        this.width = 0;
      }
      return;
    }
    if (this.width !== scene.width || this.height !== scene.height) {
      [this.width, this.height] = [scene.width, scene.height];
      gl.bindRenderbuffer(gl.RENDERBUFFER, this.made.depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, this.width, this.height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER,
                                 this.made.depth);
    }
  }

  // Draw the depth of spheres into the framebuffer of points of light.
  hide() {
    const gl = this.scene.gl;
    if (!this.width || !this.begin()) {
      return;
    }
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.colorMask(false, false, false, false);
    this.spheres(1);
    gl.colorMask(true, true, true, true);
    gl.depthMask(false);
    gl.bindVertexArray(null);
  }

  // Draw the depth of spheres before bodies, whose depth is tested.
  hideBehind() {
    const gl = this.scene.gl;
    if (this.begin()) {
      gl.colorMask(false, false, false, false);
      this.spheres(1);
      gl.colorMask(true, true, true, true);
      gl.bindVertexArray(null);
    }
  }

  // Draw all things onto the picture.
  paint(now) {
    const gl = this.scene.gl;
    gl.disable(gl.DEPTH_TEST);
    if (!this.begin()) {
      return;
    }
    const {right, up, back} = this.scene.camera.axes(), size = 0.018 * this.scene.camera.radius;
    gl.blendFunc(this.scene.paper ? gl.ZERO : gl.ONE, gl.ONE_MINUS_SRC_COLOR);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.spheres(0.5);
    const t = this.gap ? Math.min(1, (now - this.arrived) / Math.max(16, this.gap)) : 1;
    this.list.forEach((thing, k) => {
      const bright = k === this.chosen ? 1.3 : 0.9, small = k === this.chosen ? 1.3 * size : size;
      const at = add3(thing.from, add3(thing.place, thing.from, -1), t);
      const tint = TINTS[thing.kind === "point" && thing.weight < 0 ? "away" : thing.kind];
      if (thing.kind === "predator") {
        const v = thing.heading, w = unit3(cross3(v, Math.abs(v[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0]));
        this.put(this.made.octahedron, gl.TRIANGLES, at,
                 [v.map(x => 2.4 * small * x), w.map(x => 0.9 * small * x),
                  cross3(v, w).map(x => 0.5 * small * x)], [...tint, bright], 0);
      } else if (thing.kind === "wall") {
        this.wall(thing, k);
      }
      if (thing.kind === "point" || thing.kind === "wall") {
        this.put(this.made.octahedron, gl.TRIANGLES, at,
                 [[small, 0, 0], [0, small, 0], [0, 0, small]], [...tint, bright], 0);
      }
      const reach = (thing.radius || 0) + thing.reach;
      if (reach > 0 && thing.kind !== "wall" && (k === this.chosen || thing.kind === "predator")) {
        this.put(this.made.circle, gl.LINE_LOOP, at,
                 [right.map(x => reach * x), up.map(x => reach * x), back],
                 [...tint, k === this.chosen ? 0.6 : 0.25], -1);
      }
    });
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.scene.dirty = this.scene.dirty || t < 1;
  }

  // Draw wall k: its section with the box.
  wall(thing, k) {
    const gl = this.gl, normal = unit3(thing.normal), mesh = this.made.any;
    const corners = planeCorners(this.scene.head, thing.place, normal,
                                 0.02 * this.scene.camera.radius);
    if (!corners.length) {
      return;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners.flat()), gl.DYNAMIC_DRAW);
    mesh.count = corners.length;
    gl.depthMask(false);
    const same = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], bright = k === this.chosen ? 1.6 : 1;
    this.put(mesh, gl.TRIANGLE_FAN, [0, 0, 0], same, [...TINTS.wall, 0.22 * bright], -1);
    this.put(mesh, gl.LINE_LOOP, [0, 0, 0], same, [...TINTS.wall, 0.6 * bright], -1);
    gl.depthMask(true);
  }
}
