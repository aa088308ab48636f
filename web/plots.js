// SPDX-License-Identifier: BSD-3-Clause
// Curves beside the particles, and numbers as text.
"use strict";

function shown(x, digits = 3) {
  if (!Number.isFinite(x)) {
    return "–";
  }
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? x.toExponential(digits - 1)
       : Number.isInteger(x) ? x.toLocaleString("en")
       : x.toLocaleString("en", {maximumSignificantDigits: digits + 1});
}

// An element of the page: its properties, and what is in it.
function element(name, properties, ...inside) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...inside);
  return made;
}

// A canvas ready to be drawn on, in CSS pixels.
function canvasOf(canvas) {
  const scale = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = Math.round(w * scale);
  canvas.height = Math.round(h * scale);
  const to = canvas.getContext("2d");
  to.scale(scale, scale);
  return {to, w, h};
}

function drawLine(to, xs, ys, place, colour) {
  to.beginPath();
  let pen = false;
  for (let k = 0; k < xs.length; k++) {
    if (ys[k] === null || !Number.isFinite(ys[k])) {
      pen = false;
      continue;
    }
    const [x, y] = place(xs[k], ys[k]);
    pen ? to.lineTo(x, y) : to.moveTo(x, y);
    pen = true;
  }
  to.strokeStyle = colour;
  to.lineWidth = 1.6;
  to.lineJoin = "round";
  to.stroke();
}

const CURVE_COLOURS = ["#9aa4ff", "#ff9ad5", "#7fe3c4", "#ffcf7a", "#8fd0ff", "#ffa98a"];
const WHOLE_RANGE = {polarisation: 1, milling: 1};

// Measures over time: rows of floats, the first of each the step.
class Curves {
  constructor(parent) {
    this.parent = parent;
    this.names = "";
  }

  setNames(columns) {
    if (this.names === columns.join()) {
      return;
    }
    this.names = columns.join();
    this.parent.replaceChildren();
    this.cells = columns.slice(1).map(name => {
      const value = element("output"), canvas = element("canvas");
      this.parent.append(element("div", {className: "curve"},
                                 element("span", {}, name), value, canvas));
      return {name, value, canvas};
    });
  }

  setRows(bytes) {
    if (!this.cells || bytes.length === 0) {
      return;
    }
    const columns = this.cells.length + 1, n = Math.floor(bytes.length / 4 / columns);
    const data = new Float32Array(bytes.slice().buffer, 0, n * columns);
    const column = c => Array.from({length: n}, (_, k) => data[k * columns + c]);
    const steps = column(0);
    this.parent.hidden = false;
    this.cells.forEach((cell, c) => {
      const ys = column(c + 1), finite = ys.filter(Number.isFinite);
      cell.value.textContent = shown(ys[n - 1]);
      if (!cell.canvas.clientWidth) {
        return;
      }
      const whole = WHOLE_RANGE[cell.name];
      let low = whole ? 0 : Math.min(...finite), high = whole || Math.max(...finite);
      const least = 0.02 * Math.max(Math.abs(high), 1e-9);
      if (!whole && high - low < least) {
        [low, high] = [low - least / 2, low + least / 2];
      }
      const {to, w, h} = canvasOf(cell.canvas), span = Math.max(1, steps[n - 1] - steps[0]);
      const place = (x, y) => [(x - steps[0]) / span * (w - 4) + 2,
                               h - 3 - (y - low) / (high - low) * (h - 6)];
      to.strokeStyle = "#ffffff1a";
      to.strokeRect(0.5, 0.5, w - 1, h - 1);
      to.beginPath();
      to.rect(1, 1, w - 2, h - 2);
      to.clip();
      drawLine(to, steps, ys, place, CURVE_COLOURS[c % CURVE_COLOURS.length]);
    });
  }
}

// A round step of some ticks from 0 to here.
function tick(most) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find(f => f * power >= rough) * power;
}

// A curve with axes, such as g(r).
function drawPlot(section, plot) {
  section.hidden = !plot;
  if (!plot) {
    return;
  }
  section.querySelector("h2").textContent = plot.title;
  const {to, w, h} = canvasOf(section.querySelector("canvas"));
  const left = 38, bottom = 20, finite = plot.y.filter(y => y !== null);
  const x1 = plot.x[plot.x.length - 1] * 1.002, y1 = Math.max(1.2, 1.08 * Math.max(...finite));
  const place = (x, y) => [left + x / x1 * (w - left - 4), h - bottom - y / y1 * (h - bottom - 6)];
  to.font = "11px system-ui, sans-serif";
  to.fillStyle = "#99a1bd";
  to.strokeStyle = "#ffffff22";
  for (let k = 0, step = tick(x1); k * step <= x1; k++) {
    const x = place(k * step, 0)[0];
    to.textAlign = x > w - 14 ? "right" : "center";
    to.fillText(shown(k * step, 2), Math.min(x, w - 4), h - 5);
  }
  to.textAlign = "right";
  for (let k = 0, step = tick(y1); k * step <= y1; k++) {
    const y = place(0, k * step)[1];
    to.fillText(shown(k * step, 1), left - 5, y + 4);
    to.beginPath();
    to.moveTo(left, y);
    to.lineTo(w - 4, y);
    to.stroke();
  }
  drawLine(to, [0, x1], [1, 1], place, "#ffcf7a66");
  drawLine(to, plot.x, plot.y, place, "#9aa4ff");
}
