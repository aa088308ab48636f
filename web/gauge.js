// SPDX-License-Identifier: BSD-3-Clause
// Beside the particles: the axes and, around them, the colours of headings, both turning with the
// camera; and a bar of round length.
"use strict";

const BALL = 44;                // pixels of the picture of the ball, which is scaled

// Oklab to sRGB, as oklab of web/shaders.js. @return red, green, blue [0 to 255]
function oklabColour(l, a, b) {
  const m = [l + 0.3963378 * a + 0.2158038 * b, l - 0.1055613 * a - 0.0638542 * b,
             l - 0.0894842 * a - 1.2914855 * b].map(v => v * v * v);
  return [4.0767417 * m[0] - 3.3077116 * m[1] + 0.2309699 * m[2],
          -1.2684380 * m[0] + 2.6097574 * m[1] - 0.3413194 * m[2],
          -0.0041961 * m[0] - 0.7034186 * m[1] + 1.7076147 * m[2]].map(
    v => 255 * Math.pow(Math.min(1, Math.max(0, v)), 1 / 2.2));
}

// The map of directions to colours of web/shaders.js.
function headingColour([x, y, z], paper) {
  const a = 0.15 * (0.825 * x - 0.565 * y), b = 0.15 * (0.565 * x + 0.825 * y) + 0.05 * z;
  return oklabColour((paper ? 0.60 : 0.74) + 0.15 * z, a, b);
}

// The map of groups and species, from 1, to colours of web/shaders.js.
function groupColour(label, paper) {
  const h = 2.399963 * label, l = (paper ? 0.56 : 0.76) + 0.08 * (0.37 * label % 1);
  return oklabColour(l, 0.15 * Math.cos(h), 0.15 * Math.sin(h));
}

// The largest of 1, 2 and 5 times a power of ten that is at most so large.
function roundBelow(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].find(f => f * power <= most) * power;
}

// canvas: where to draw; scene: the particles, whose camera the axes follow
class Gauge {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.scene = scene;
    this.ball = element("canvas", {width: BALL, height: BALL});
    this.last = "";
  }

  // Draw if what it shows has changed. Colour 2 of the head is WEB_HEADING of web/web.h.
  draw() {
    const {scene} = this, {head, camera} = scene;
    if (!head || !scene.matrix) {
      return;
    }
    const scale = scene.project(camera.centre).scale;
    const what = [camera.yaw, camera.pitch, scale, head.colour === 2, head.dim, scene.paper,
                  this.canvas.clientWidth].join();
    if (what === this.last) {
      return;
    }
    this.last = what;
    this.canvas.hidden = false;
    const {to, w, h} = canvasOf(this.canvas), axes = camera.axes();
    const ink = getComputedStyle(this.canvas).color;
    to.font = "11px system-ui, sans-serif";
    to.textAlign = "center";
    to.textBaseline = "middle";
    to.lineWidth = 1.6;
    this.drawAxes(to, w / 2, 38, axes, ink, head);
    this.drawBar(to, w, h, scale, ink);
  }

  // Draw the axes from (x0, y0) on: those that point away first, then the ball, then the others.
  drawAxes(to, x0, y0, {right, up, back}, ink, head) {
    const radius = head.colour === 2 ? 21 : 0, {dim} = head;
    const ends = [0, 1, 2].slice(0, dim).map(k => ({name: "xyz"[k], x: right[k], y: -up[k],
                                                    near: back[k]}));
    const line = (end, from, to1) => {
      to.strokeStyle = ink;
      to.globalAlpha = end.near < -0.05 ? 0.55 : 1;
      to.beginPath();
      to.moveTo(x0 + from * end.x, y0 + from * end.y);
      to.lineTo(x0 + to1 * end.x, y0 + to1 * end.y);
      to.stroke();
    };
    ends.filter(end => end.near <= 0).forEach(end => line(end, 0, 28));
    if (radius) {
      this.paintBall({right, up, back}, dim);
      to.globalAlpha = 1;
      to.drawImage(this.ball, x0 - radius, y0 - radius, 2 * radius, 2 * radius);
    }
    for (const end of ends) {
      if (end.near > 0) {           // from the point of the ball with the colour of the axis on
        line(end, radius * Math.min(1, Math.hypot(end.x, end.y)) * (radius ? 1 : 0), 28);
      }
      if (Math.hypot(end.x, end.y) > 0.25 || !radius) {
        to.globalAlpha = end.near < -0.05 ? 0.7 : 1;
        to.fillStyle = ink;
        to.fillText(end.name, x0 + 34 * end.x, y0 + 34 * end.y);
      }
    }
    to.globalAlpha = 1;
  }

  // Paint a ball, each point of which has the colour of the direction from the middle to it. In 2-D
  // it is a ring.
  paintBall({right, up, back}, dim) {
    const to = this.ball.getContext("2d"), image = to.createImageData(BALL, BALL);
    for (let j = 0; j < BALL; j++) {
      for (let i = 0; i < BALL; i++) {
        const x = (2 * i + 1) / BALL - 1, y = 1 - (2 * j + 1) / BALL, r = Math.hypot(x, y);
        if (r > 1 || dim === 2 && r < 0.45) {
          continue;
        }
        const z = dim === 2 ? 0 : Math.sqrt(1 - r * r), f = dim === 2 ? 1 / r : 1;
        const d = [0, 1, 2].map(k => f * (x * right[k] + y * up[k]) + z * back[k]);
        const edge = Math.min(1, (1 - r) * BALL / 2);
        image.data.set([...headingColour(d, this.scene.paper), 255 * edge], 4 * (j * BALL + i));
      }
    }
    to.putImageData(image, 0, 0);
  }

  // Draw the bar. scale: pixels per unit of length at the centre of the camera
  drawBar(to, w, h, scale, ink) {
    const length = roundBelow((w - 8) / scale), half = length * scale / 2;
    to.strokeStyle = to.fillStyle = ink;
    to.beginPath();
    to.moveTo(w / 2 - half, h - 8);
    to.lineTo(w / 2 - half, h - 4);
    to.lineTo(w / 2 + half, h - 4);
    to.lineTo(w / 2 + half, h - 8);
    to.stroke();
    to.fillText(shown(length), w / 2, h - 15);
    this.canvas.setAttribute("aria-label",
                             `Axes, colours of headings, and a bar ${shown(length)} long`);
  }
}
