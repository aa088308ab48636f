// SPDX-License-Identifier: BSD-3-Clause
// Mouse, touch and keyboard; and the legend of colours.
"use strict";

// Turn the camera around its centre [radian].
function turn(camera, dx, dy) {
  camera.yaw -= dx;
  camera.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, camera.pitch + dy));
}

// Move the picture by some CSS pixels: the centre moves the other way.
function shift(scene, dx, dy) {
  const camera = scene.camera, {right, up} = camera.axes();
  const scale = 1 / scene.project(camera.centre).scale;
  camera.centre = camera.centre.map((c, k) => c + scale * (dy * up[k] - dx * right[k]));
}

function zoom(camera, factor) {
  camera.zoom = Math.max(0.2, Math.min(400, camera.zoom * factor));
}

// Listen to mouse and touch. One pointer turns or drags a thing; with shift, the right button or in
// 2-D it moves the picture; two pointers move and zoom. A pointer that moves less than 6 pixels is
// a click.
function addPointer(view) {
  // held: place of each pointer that is down, by its id
  const canvas = view.scene.canvas, scene = view.scene, held = new Map();
  let moved = 0, grip = false;  // way of the pointer [CSS pixels]; it holds a thing
  canvas.addEventListener("contextmenu", e => e.preventDefault());
  canvas.addEventListener("pointerdown", e => {
    canvas.setPointerCapture(e.pointerId);
    canvas.classList.add("held");
    held.set(e.pointerId, {x: e.clientX, y: e.clientY});
    moved = held.size > 1 ? 99 : 0;
    grip = held.size === 1 && e.button === 0 && view.things && view.things.grab(e.clientX, e.clientY);
  });
  canvas.addEventListener("pointermove", e => {
    const last = held.get(e.pointerId);
    if (!last) {
      return;
    }
    const dx = e.clientX - last.x, dy = e.clientY - last.y;
    moved += Math.abs(dx) + Math.abs(dy);
    if (held.size === 2) {
      const other = [...held].find(([id]) => id !== e.pointerId)[1];
      const gap = p => Math.hypot(p.x - other.x, p.y - other.y);
      zoom(scene.camera, gap({x: e.clientX, y: e.clientY}) / Math.max(1, gap(last)));
      shift(scene, dx / 2, dy / 2);
      scene.follow = false;
    } else if (grip) {
      if (moved >= 6) {
        view.things.drag(dx, dy);
      }
    } else if (e.buttons & 2 || e.shiftKey || (scene.head && scene.head.dim === 2)) {
      shift(scene, dx, dy);
      scene.follow = scene.follow && moved < 6;
    } else {
      turn(scene.camera, dx * 0.006, dy * 0.006);
    }
    Object.assign(last, {x: e.clientX, y: e.clientY});
    scene.dirty = true;
  });
  const release = e => {
    if (view.things) {
      view.things.drop();
    }
    if (held.delete(e.pointerId) && moved < 6 && e.type === "pointerup") {
      view.pick(e.clientX, e.clientY);
    }
    canvas.classList.toggle("held", held.size > 0);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    zoom(scene.camera, Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)));
    scene.dirty = true;
  }, {passive: false});
  canvas.addEventListener("dblclick", () => {
    if (scene.mark >= 0) {
      view.follow();
    }
    const halo = (view.groups || []).find(h => h.colour === view.chosen);
    if (halo) {
      scene.camera.centre = halo.centre.slice();
      zoom(scene.camera, 2.5);
      scene.dirty = true;
    }
  });
}

// Listen to the keyboard: single keys are commands unless text is typed.
function addKeys(view) {
  const scene = view.scene, camera = scene.camera, a = 0.08;
  const keys = {
    " ": () => view.pause(), "p": () => view.pause(), ".": () => view.step(1),
    ",": () => view.step(-1), "r": () => view.askReset(), "c": () => view.nextColour(),
    "h": () => view.fold(), "0": () => scene.home(), "t": () => view.spin(),
    "g": () => view.rings(), "Escape": () => view.escape(), "s": () => view.pickMiddle(),
    "f": () => view.follow(), "v": () => view.fullScreen(), "i": () => view.picture(),
    "l": () => view.copyLink(),
    "Delete": () => view.things.remove(view.things.chosen),
    "Backspace": () => view.things.remove(view.things.chosen),
    "ArrowLeft": () => turn(camera, a, 0), "ArrowRight": () => turn(camera, -a, 0),
    "ArrowUp": () => turn(camera, 0, a), "ArrowDown": () => turn(camera, 0, -a),
    "+": () => zoom(camera, 1.15), "=": () => zoom(camera, 1.15), "-": () => zoom(camera, 1 / 1.15),
  };
  window.addEventListener("keydown", e => {
    const busy = e.target.closest && e.target.closest("input, button, summary");
    const typed = e.target.type === "text" || (busy && /^(Arrow| )/.test(e.key));
    if (e.shiftKey && e.key.startsWith("Arrow") && !typed) {
      const by = {Left: [30, 0], Right: [-30, 0], Up: [0, 30], Down: [0, -30]}[e.key.slice(5)];
      e.preventDefault();
      shift(scene, ...by);
      scene.follow = false;
      scene.dirty = true;
    } else if (keys[e.key] && !typed && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      keys[e.key]();
      scene.dirty = true;
    }
  });
}

// Samples of the colour maps of web/shaders.js, for the legend: on dark ground, and on light
// ground. The map of headings is shown around the axes (web/gauge.js).
const STOPS = {
  plain: ["#120a30", "#56106e", "#bb3754", "#f98c0a", "#fcffa4"],
  speed: ["#2f0596", "#7e03a8", "#cc4778", "#f89540", "#f0f921"],
};
STOPS.mass = STOPS.speed;
const PAPER_STOPS = {plain: ["#fdf2d0", "#f98c0a", "#bb3754", "#56106e", "#120a30"],
                     speed: STOPS.speed, mass: STOPS.mass};

// Text at the two ends of the legend. told: `legend` of the state, see drawLegend
function legendEnds(colour, head, told) {
  const unit = told && told.unit ? ` ${/^\d/.test(told.unit) ? "× " : ""}${told.unit}` : "";
  return colour === "speed" ? head.range.map(x => shown(x))
       : colour === "mass" ? told.range.map(x => shown(x) + unit)
       : ["few", "many"];
}

// Fill a list with the names of species, each beside its colour, with its number of particles.
function listSpecies(list, told, paper) {
  const items = told ? told.species.map(s => {
    const dot = element("i");
    dot.style.background = `rgb(${groupColour(s.colour, paper).map(Math.round)})`;
    return element("li", {}, dot, s.name, element("small", {}, shown(s.n)));
  }) : [];
  if (told && told.others) {
    items.push(element("li", {}, `others ${shown(told.others)}`));
  }
  list.replaceChildren(...items);
}

// Draw the legend of the colours, if it has changed. s: the state, whose `legend` describes the
// colours of masses and species (view_legend_json of cli/view/view.h). head: of the points
function drawLegend(legend, s, head, paper) {
  const {colour} = s, stops = (paper ? PAPER_STOPS : STOPS)[colour], told = s.legend;
  const ends = legend.querySelectorAll("span"), canvas = legend.querySelector("canvas");
  legend.hidden = !head || !(stops || told);
  if (legend.hidden) {
    return;
  }
  const key = JSON.stringify([colour, paper, told]);
  ends.forEach((end, k) => { end.textContent = stops ? legendEnds(colour, head, told)[k] : ""; });
  if (legend.dataset.key === key) {
    return;
  }
  legend.dataset.key = key;
  canvas.hidden = !stops;
  listSpecies(legend.querySelector("ul"), stops ? null : told, paper);
  if (stops) {
    const to = canvas.getContext("2d"), ramp = to.createLinearGradient(0, 0, canvas.width, 0);
    stops.forEach((stop, k) => ramp.addColorStop(k / (stops.length - 1), stop));
    to.fillStyle = ramp;
    to.fillRect(0, 0, canvas.width, canvas.height);
  }
}
