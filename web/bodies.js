// SPDX-License-Identifier: BSD-3-Clause
// Particles as bodies that point along their velocity: meshes, levels of detail, and trails. A body
// is one instance of a mesh; web/shaders.js moves and turns it.
"use strict";

// Levels of detail, by the number of particles that is drawn and the length of a body on the screen
// [CSS pixels]: birds of 13 triangles, arrows of 6, discs. More than MOST_BODIES are points of
// light.
const POINTS_OF_LIGHT = 0, ARROWS = 1, BIRDS = 2;
// Most particles that are drawn as bodies: by "auto", by another choice, as birds by "auto".
const MOST_BODIES = 60000, MOST_FORCED = 400000, MOST_BIRDS = 8000;
// Lengths of a body on the screen [CSS pixels]: a shorter one is a disc, and "auto" has points of
// light in 3-D; a body is drawn at least so long; "auto" has points of light in 2-D below it; "auto"
// has birds from it on.
const DISC_BELOW = 2.2, LEAST_BODY = 5.5, LEAST_FLAT = 6, BIRD_FROM = 11;
// Most pieces of a trail, one a frame; of all trails; and the length of a trail [bodies].
const MOST_TRAIL = 48, MOST_PIECES = 240000, LONGEST_TRAIL = 14;

// Each mesh is a list of triangles of corners [along, left, up, share of the wing beat]; the body
// is about one unit long.
function arrowMesh() {
  const nose = [0.6, 0, 0, 0], left = [-0.4, 0.32, 0, 0], right = [-0.4, -0.32, 0, 0];
  const top = [-0.26, 0, 0.17, 0], keel = [-0.26, 0, -0.13, 0];
  return [[nose, left, top], [nose, top, right], [nose, keel, left], [nose, right, keel],
          [left, keel, top], [right, top, keel]];
}

// A body with tail, and two wings whose tips move most.
function birdMesh() {
  const nose = [0.5, 0, 0, 0], tail = [-0.4, 0, 0.01, 0], top = [0.1, 0, 0.09, 0];
  const belly = [0.1, 0, -0.08, 0], sides = [[0.08, 0.08, 0, 0], [0.08, -0.08, 0, 0]];
  const mesh = sides.flatMap(side => [[nose, side, top], [nose, belly, side], [tail, top, side],
                                      [tail, side, belly]]);
  for (const way of [1, -1]) {
    const front = [0.2, 0.05 * way, 0.03, 0], back = [-0.1, 0.05 * way, 0.03, 0];
    const bend = [0.13, 0.38 * way, 0.06, 0.45], tip = [-0.16, 0.78 * way, 0, 1];
    mesh.push([front, bend, back], [bend, tip, back]);
  }
  mesh.push([[-0.26, 0, 0.02, 0], [-0.56, 0.13, 0, 0], [-0.56, -0.13, 0, 0]]);
  return mesh;
}

// Seven floats a corner: the corner, and the normal of its triangle.
function packMesh(mesh) {
  return new Float32Array(mesh.flatMap(([a, b, c]) => {
    const u = [0, 1, 2].map(k => b[k] - a[k]), v = [0, 1, 2].map(k => c[k] - a[k]);
    const n = [0, 1, 2].map(k => u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
    const size = Math.hypot(...n);
    return [a, b, c].flatMap(corner => [...corner, ...n.map(x => x / size)]);
  }));
}

// Programs and meshes of bodies, for one context of WebGL.
class Bodies {
  constructor(gl) {
    this.gl = gl;
    this.body = compile(gl, BODY_VERTEX, LINE_PIXEL);
    this.disc = compile(gl, DISC_VERTEX, DISC_PIXEL);
    this.trail = compile(gl, TRAIL_VERTEX, LINE_PIXEL);
    this.back = compile(gl, SCREEN_VERTEX, BACK_PIXEL);
    this.mesh = [null, arrowMesh(), birdMesh()].map(mesh => {
      const buffer = mesh && gl.createBuffer();
      if (mesh) {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, packMesh(mesh), gl.STATIC_DRAW);
      }
      return mesh && {buffer, corners: 3 * mesh.length};
    });
  }

  // Choose the level of detail. wanted: "auto", "birds", "arrows" or "points"; pixels: length of a
  // body in the middle of the picture [CSS pixels]; thrift: 0, or less detail for a slow machine: 1
  // no birds and no trails, 2 no bodies.
  static level(head, wanted, pixels, thrift) {
    const plain = head.colour === 0; // the picture is of the density, to which points add up
    if (wanted === "points" || !head.direction || plain) {
      return POINTS_OF_LIGHT;
    }
    if (wanted !== "auto") {
      return head.shown > MOST_FORCED ? POINTS_OF_LIGHT : wanted === "birds" ? BIRDS : ARROWS;
    }
    const least = head.dim === 2 ? LEAST_FLAT : DISC_BELOW;
    if (head.shown > MOST_BODIES || pixels < least || thrift > 1) {
      return POINTS_OF_LIGHT;
    }
    const rich = head.dim === 3 && thrift === 0 && head.shown <= MOST_BIRDS;
    return rich && pixels >= BIRD_FROM ? BIRDS : ARROWS;
  }

  // How many pieces a trail has. way: what a particle moves from frame to frame [bodies]
  static pieces(shown, strength, way) {
    return Math.floor(Math.min(MOST_TRAIL * strength, MOST_PIECES / Math.max(1, shown),
                               LONGEST_TRAIL * strength / Math.max(way, 1e-9)));
  }

  // Draw the background, all particles and their trails. scene: its uniforms are set by
  // scene.setParticle. frames: buffers of points, the newest first. t: 0 to 1, the time between the
  // last two frames
  draw(scene, level, frames, t) {
    const gl = this.gl, head = scene.head, mesh = this.mesh[level];
    gl.disable(gl.BLEND);
    gl.useProgram(this.back.program);
    gl.uniform1f(this.back.at.paper, scene.paper);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    scene.things && scene.things.hideBehind();
    const size = [scene.length, DISC_BELOW * scene.scale, LEAST_BODY * scene.scale];
    this.use(scene, this.body, size, t);
    gl.uniform1f(this.body.at.beat, scene.beat);
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer);
    scene.attribute(4, 4, gl.FLOAT, 28, 0);
    scene.attribute(5, 3, gl.FLOAT, 28, 16);
    scene.bindParticle(frames[0], frames[t < 1 ? 1 : 0], 1);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, mesh.corners, head.shown);
    gl.disableVertexAttribArray(4);
    gl.disableVertexAttribArray(5);
    this.use(scene, this.disc, size, t);
    scene.bindParticle(frames[0], frames[t < 1 ? 1 : 0], 0);
    gl.drawArrays(gl.POINTS, 0, head.shown);
    this.drawTrails(scene, frames, size, t);
  }

  // Draw trails, one piece for each pair of frames that follow each other, fainter with age.
  drawTrails(scene, frames, size, t) {
    const gl = this.gl, n = Math.min(frames.length - 1, scene.pieces());
    if (n < 1) {
      return;
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    this.use(scene, this.trail, size, 1);
    for (let k = 0; k < n; k++) {
      const end = k === 0 ? 1 : 1 - (k - 1 + t) / n, begin = Math.max(0, 1 - (k + t) / n);
      gl.uniform2f(this.trail.at.fresh, begin, end);
      gl.uniform4f(this.trail.at.how, scene.unit, k === 0 ? t : 1, scene.head.colour, 0);
      scene.bindParticle(frames[k], frames[k + 1], 1);
      gl.drawArraysInstanced(gl.LINES, 0, 2, Math.min(frames[k].count, frames[k + 1].count));
    }
    gl.depthMask(true);
    scene.unbindParticle();
  }

  // Select a program of bodies, and set its uniforms.
  use(scene, program, size, t) {
    const gl = this.gl, u = program.at;
    scene.setParticle(program, size, t, 1);
    gl.uniform3fv(u.eye, scene.eye);
    gl.uniform3fv(u.fog, scene.paper ? [0.95, 0.957, 0.975] : [0.022, 0.024, 0.05]);
  }
}
