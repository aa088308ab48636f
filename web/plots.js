// SPDX-License-Identifier: BSD-3-Clause
// Curves beside the particles, and numbers as text.
"use strict";

// A number as text.
function shown(x, digits = 3) {
  if (!Number.isFinite(x)) {
    return "–";
  }
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? x.toExponential(digits - 1)
       : Number.isInteger(x) ? x.toLocaleString("en")
       : x.toLocaleString("en", {maximumSignificantDigits: digits + 1});
}

// Make an element of the page, with properties and children.
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

// Draw a curve, with gaps where values are null or not finite. place: (x, y) to pixels
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
const WHOLE_RANGE = {polarisation: 1, milling: 1};  // curves whose axis ends at this value

// The axis of a curve: it holds all values, and is never so narrow that rounding is seen.
function curveRange(name, ys) {
  const finite = ys.filter(Number.isFinite), high = Math.max(...finite), low = Math.min(...finite);
  const least = 0.02 * Math.max(Math.abs(high), 1e-9), middle = (low + high) / 2;
  return WHOLE_RANGE[name] ? [0, WHOLE_RANGE[name]]
       : high - low < least ? [middle - least / 2, middle + least / 2] : [low, high];
}

// Measures over time, a small curve for each: the message WEB_CURVES of web/web.h.
class Curves {
  constructor(parent) {
    this.parent = parent;
    this.names = "";
  }

  // columns: names of the columns, of which the first is the step
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

  // Draw the curves. bytes: floats [rows][columns]
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
      const ys = column(c + 1);
      cell.value.textContent = shown(ys[n - 1]);
      if (!cell.canvas.clientWidth) {
        return;
      }
      const [low, high] = curveRange(cell.name, ys);
      const {to, w, h} = canvasOf(cell.canvas), span = Math.max(1, steps[n - 1] - steps[0]);
      const place = (x, y) => [(x - steps[0]) / span * (w - 4) + 2,
                               h - 3 - (y - low) / (high - low) * (h - 6)];
      to.strokeStyle = getComputedStyle(cell.canvas).getPropertyValue("--line");
      to.strokeRect(0.5, 0.5, w - 1, h - 1);
      drawLine(to, steps, ys, place, CURVE_COLOURS[c % CURVE_COLOURS.length]);
    });
  }
}

// Places of ticks from low to high: of a round step from 0, or on a logarithmic axis at powers of
// ten, and between them where these are few.
function ticks(low, high, logarithmic) {
  if (logarithmic) {
    const decades = Math.log10(high / low), out = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
      for (const f of decades > 2.5 ? [1] : decades > 1 ? [1, 3] : [1, 2, 5]) {
        out.push(f * 10 ** power);
      }
    }
    return out.filter(x => x >= 0.999 * low && x <= 1.001 * high);
  }
  const rough = high / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(f => f * power >= rough) * power;
  return Array.from({length: Math.floor(high / step) + 1}, (_, k) =>
                    Number((k * step).toPrecision(6)));
}

// A curve with axes, such as g(r). A peak far above 1 has logarithmic axes, which show the curve
// near the peak and far from it.
function drawPlot(section, plot) {
  section.hidden = !plot;
  const canvas = section.querySelector("canvas");
  if (!plot || !canvas.clientWidth) {
    return;
  }
  const ys = plot.y.filter(y => y > 0), peak = Math.max(...ys), steep = peak > 20;
  section.querySelector("h2").textContent = plot.title + (steep ? ", logarithmic axes" : "");
  canvas.setAttribute("aria-label", `${plot.title}: largest value ${shown(peak)}`);
  const {to, w, h} = canvasOf(canvas), look = getComputedStyle(canvas);
  const left = 44, bottom = 20, last = plot.x[plot.x.length - 1];
  const x0 = steep ? plot.x[0] : 0, x1 = last * 1.002;
  const y0 = steep ? 0.8 * Math.max(0.1, Math.min(1, ...ys)) : 0;
  const y1 = steep ? 1.5 * peak : Math.max(1.2, 1.08 * peak);
  const part = (x, low, high) => steep ? Math.log(x / low) / Math.log(high / low)
                                       : (x - low) / (high - low);
  const place = (x, y) => [left + part(x, x0, x1) * (w - left - 16),
                           h - bottom - part(Math.max(y, y0), y0, y1) * (h - bottom - 8)];
  to.font = "11px system-ui, sans-serif";
  to.fillStyle = look.getPropertyValue("--faint");
  to.strokeStyle = look.getPropertyValue("--line");
  to.textAlign = "center";
  let end = -1e9;
  for (const r of ticks(x0, x1, steep)) {
    const x = place(r, y0)[0], text = shown(r, 2), half = to.measureText(text).width / 2;
    if (x - half > end && x + half < w - 14) {
      to.fillText(text, x, h - 5);
      end = x + half + 4;
    }
  }
  to.fillText("r", w - 7, h - 5);
  to.textAlign = "right";
  for (const g of ticks(y0, y1, steep)) {
    const y = place(x1, g)[1];
    to.fillText(shown(g, 1), left - 5, y + 4);
    to.beginPath();
    to.moveTo(left, y);
    to.lineTo(w - 16, y);
    to.stroke();
  }
  drawLine(to, [x0, x1], [1, 1], place, look.getPropertyValue("--warm"));
  drawLine(to, plot.x, steep ? plot.y.map(y => y > 0 ? y : null) : plot.y, place,
           look.getPropertyValue("--glow"));
}
