// SPDX-License-Identifier: BSD-3-Clause
// The page: controls, messages of the server, and the loop that draws. The state is the last
// message WEB_STATE of web/web.h; its kind is "flock" for a run, which can be steered, or "file".
"use strict";

const $ = id => document.getElementById(id);
// Limits of the number of points of a frame; circles around groups.
const FEWEST = 20000, MOST = 4000000, MOST_RINGS = 150;
const VALUES = 7;               // channel of the values of a particle: WEB_PARTICLE
const BODIES = ["auto", "birds", "arrows", "points"];
const NEAR = 16;                // reach of a click that selects a particle [CSS pixels]

// The page. Ids of elements are those of index.html.
class View {
  constructor() {
    this.scene = new Scene($("scene"));
    this.curves = new Curves($("curves"));
    this.things = new Things(this);
    this.state = {};          // the newest WEB_STATE
    this.sliders = new Map(); // {value, show(value)} by name
    this.touched = 0;         // when a slider was moved last [ms]
    this.waiting = null;      // points that came and were not drawn yet
    this.frames = 0;          // messages of points that were drawn
    this.playing = false;     // frames of a file follow each other
    this.most = MOST;         // most points that the user allows
    this.link = new Link({message: (c, b) => this.message(c, b), status: s => this.status(s)});
    this.gauge = new Gauge($("gauge"), this.scene);
    this.wished = readLink(location.hash);      // a link to restore, once there are points
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.scene.style.trails = 0;
      this.scene.calm = true;
    }
    this.followScheme(matchMedia("(prefers-color-scheme: light)"));
    this.addStyleControls();
    this.addButtons();
    addPointer(this);
    addKeys(this);
    new ResizeObserver(() => this.fitBesidePanel()).observe($("side"));
    window.addEventListener("hashchange", e => { this.wished = readLink(new URL(e.newURL).hash); });
    window.addEventListener("resize", () => this.fitBesidePanel());
    requestAnimationFrame(now => this.tick(now));
  }

  // Take a message of the server. Points wait until the next frame of the screen; newer ones
  // replace them.
  message(channel, bytes) {
    if (channel === POINTS) {
      if (this.waiting) {
        this.link.giveBack(this.waiting);
      }
      this.waiting = bytes;
      return;
    }
    if (channel === CURVES) {
      this.rows = bytes;
      this.curves.setRows(bytes);
      return;
    }
    const value = JSON.parse(new TextDecoder().decode(bytes));
    if (channel === STATE) {
      this.setState(value);
    } else if (channel === THINGS) {
      this.things.set(value);
    } else if (channel === GROUPS) {
      this.setGroups(value);
    } else if (channel === PLOT) {
      this.plot = value;
      drawPlot($("plot"), value);
    } else if (channel === VALUES && value.point === this.scene.mark) {
      this.values = value;
      this.showParticle();
    }
  }

  // Show the state of the connection. s: "live", "lost", "refused". Controls that steer the run are
  // disabled unless it is live.
  status(s) {
    const ended = this.state.ended && s === "lost", lost = s === "lost" && !ended;
    this.lostAt = lost ? this.lostAt || performance.now() : 0;
    const long = lost && performance.now() - this.lostAt > 8000;
    const text = s === "live" ? "" : s === "refused"
        ? "another run of kith answers here: open the address that it printed"
        : ended ? "the run has ended; a new one prints an address of its own"
        : long ? `no answer from ${location.host}: start kith, or the ssh line, again`
        : "connection lost, trying again";
    $("link").className = s === "live" ? "" : ended ? "ended" : "lost";
    if ($("link").lastChild.textContent !== text) {
      $("link").lastChild.textContent = text;
    }
    $("link").hidden = s === "live" && !this.state.ended;
    document.body.dataset.link = s;
    const closed = s !== "live" || Boolean(this.state.ended);
    if (this.link.closed !== closed) {
      this.link.closed = closed;
      document.querySelectorAll(".steers").forEach(part => { part.disabled = closed; });
    }
  }

  // Take a message WEB_STATE, and show what has changed.
  setState(s) {
    const before = this.state;
    this.state = s;
    document.title = `${s.title} · kith`;
    $("title").textContent = s.title;
    if (s.message !== before.message) {
      this.say(s.message, s.held);
    }
    $("run").hidden = $("things").hidden = s.kind !== "flock";
    $("frames").hidden = !(s.frames > 1);
    $("rings").hidden = !s.grouped;
    if (s.kind === "flock") {
      $("pause").textContent = s.paused ? "go on" : "pause";
      $("reset").disabled = !s.can_reset;
      if (before.seed !== s.seed) {
        $("seed").value = s.seed;
      }
      this.curves.setNames(s.columns);
      this.setPresets(s.presets);
      this.setRules(s);
    } else if (s.frames > 1) {
      $("seek").max = s.frames - 1;
      if (document.activeElement !== $("seek") || this.playing) {
        $("seek").value = s.frame;
      }
      $("frame").textContent = `${s.frame + 1} of ${s.frames}`;
      $("seek").setAttribute("aria-valuetext", `frame ${s.frame + 1} of ${s.frames}`);
    }
    if (JSON.stringify(before.colours) !== JSON.stringify(s.colours) || before.colour !== s.colour) {
      this.setColours(s);
    }
    this.tell();
  }

  // Show a message: for some seconds, or until the next one.
  say(text, stays) {
    $("message").textContent = text;
    clearTimeout(this.clearing);
    if (!stays) {
      this.clearing = setTimeout(() => { $("message").textContent = ""; }, 6000);
    }
  }

  // Make the buttons of presets. A preset begins another flock: when its points come, the camera
  // moves back, so that all of it is seen.
  setPresets(names) {
    if (String(names) !== this.presets) {
      this.presets = String(names);
      $("presets").replaceChildren(...names.map(name => element("button", {onclick: () => {
        this.before = this.scene.head && this.scene.head.epoch;
        this.link.send({preset: name});
      }}, name)));
    }
  }

  // Make the sliders of a flock's rules, or set their values, unless the user has just moved one.
  setRules(s) {
    const names = s.rules.map(r => r.name).join();
    if (names !== this.ruleNames) {
      this.ruleNames = names;
      this.sliders.clear();
      $("rules").replaceChildren(
        ...s.rules.map(r => r.choices ? this.choice(r) : this.slider(r, v => this.set(r.name, v))),
        this.slider({name: "limit", label: "steps/s", min: 0, max: 240, step: 5, zero: "no limit",
                     value: s.limit}, v => this.link.send({limit: v})));
    }
    const touched = performance.now() - this.touched < 1000;
    for (const r of s.rules.concat({name: "limit", value: s.limit, min: 0, max: 240})) {
      const slider = this.sliders.get(r.name);
      if (slider && slider.limit) {
        slider.limit(r.min, r.max);
      }
      if (slider && slider.value !== r.value && !touched) {
        slider.show(r.value);
      }
    }
  }

  // Change a rule: changes within 50 ms are sent together.
  set(name, value) {
    this.touched = performance.now();
    this.changes = Object.assign(this.changes || {}, {[name]: value});
    this.changing = this.changing || setTimeout(() => {
      this.link.send({set: this.changes});
      this.changes = this.changing = null;
    }, 50);
  }

  // Make a slider. r: {name, label, min, max, step, value, zero: text in place of 0}; changed:
  // called with a value that the user has chosen
  slider(r, changed) {
    const value = element("output"), input = element("input",
        {type: "range", min: r.min, max: r.max, step: r.step, id: `rule-${r.name}`});
    const tell = v => { value.textContent = v === 0 && r.zero ? r.zero : shown(v); };
    const slider = {
      limit: (min, max) => {
        if (Number(input.min) !== min || Number(input.max) !== max) {
          [input.min, input.max] = [min, max];
          input.value = slider.value;
        }
      },
      show: v => {
        slider.value = v;
        input.value = v;
        tell(v);
      }};
    slider.show(r.value);
    input.setAttribute("aria-label", r.label);      // an output comes first in the label
    input.addEventListener("input", () => {
      slider.value = Number(input.value);
      tell(slider.value);
      changed(slider.value);
    });
    this.sliders.set(r.name, slider);
    return element("label", {className: "slider"}, element("span", {}, r.label), value, input);
  }

  // Make a row of buttons, of which one is pressed. r: {name, label, choices, value: an index}
  choice(r) {
    const buttons = r.choices.map((text, k) =>
      element("button", {onclick: () => this.set(r.name, k)}, text));
    const slider = {show: v => {
      slider.value = v;
      buttons.forEach((b, k) => b.setAttribute("aria-pressed", String(k === v)));
    }};
    slider.show(r.value);
    this.sliders.set(r.name, slider);
    return element("div", {className: "slider"}, element("span", {}, r.label),
                   element("div", {className: "row"}, ...buttons));
  }

  // One of the buttons is reached by Tab, the others by arrows, as radio buttons are.
  setColours(s) {
    const row = $("colours"), focused = row.contains(document.activeElement);
    row.replaceChildren(...s.colours.map(c => {
      const b = element("button", {onclick: () => this.link.send({colour: c.name}),
                                   tabIndex: c.name === s.colour ? 0 : -1}, c.label);
      b.setAttribute("role", "radio");
      b.setAttribute("aria-checked", String(c.name === s.colour));
      return b;
    }));
    if (focused) {
      row.querySelector("[aria-checked=true]").focus();
    }
  }

  nextColour(way = 1) {
    const names = (this.state.colours || []).map(c => c.name), n = names.length;
    this.link.send({colour: names[(names.indexOf(this.state.colour) + way + n) % n]});
  }

  // Take a message WEB_GROUPS; the selected group is found again by its colour.
  setGroups(g) {
    this.groups = g.largest;
    const halo = this.groups.find(h => h.colour === this.chosen);
    if (halo && this.following) {
      this.scene.camera.centre = halo.centre.slice();
    }
    this.chooseHalo(halo || null);
  }

  // Select a group, or none (null), and draw the circles around all: 1.6 times the rms radius
  // contains most of a group.
  chooseHalo(halo) {
    this.chosen = halo ? halo.colour : 0;
    this.following = this.following && halo !== null;
    this.scene.setRings((this.groups || []).slice(0, MOST_RINGS).map(h => (
      {centre: h.centre, radius: 1.6 * h.radius, label: h.colour, chosen: h === halo})));
    if (halo) {
      this.mark(-1);
      this.showCard(`group ${halo.label}`, haloRows(halo), this.following);
    } else if (this.scene.mark < 0) {
      $("halo").hidden = true;
    }
  }

  // Select a particle by its index among the points; -1: none. Its values come from the server.
  mark(k) {
    const {scene} = this;
    scene.follow = scene.follow && k >= 0;
    if (scene.mark !== k) {
      scene.mark = k;
      this.values = null;
      this.asked = performance.now();
      this.link.send({inspect: k});
    }
    scene.dirty = true;
    if (k >= 0) {
      this.chooseHalo(null);
      this.showParticle();
    }
  }

  // Show the card of the selected particle, with its values once they have come.
  showParticle() {
    const v = this.values;
    this.showCard(v ? `particle ${shown(v.index)}` : "particle", v ? particleRows(v) : [],
                  this.scene.follow);
  }

  // Select nothing.
  letGo() {
    this.mark(-1);
    this.chooseHalo(null);
  }

  // Let the camera follow what is selected, or stop that.
  follow() {
    const {scene} = this, halo = (this.groups || []).find(h => h.colour === this.chosen);
    if (scene.mark >= 0) {
      scene.follow = !scene.follow;
      this.showParticle();
    } else if (halo) {
      this.following = !this.following;
      this.chooseHalo(halo);
    }
    if (scene.follow || this.following) {
      scene.camera.centre = halo ? halo.centre.slice() : scene.camera.centre;
      scene.camera.zoom = Math.max(scene.camera.zoom, 3);
    }
    scene.dirty = scene.wipe = true;
  }

  // Show the card of the selected group or particle. rows: names and values; follows: the camera
  // follows it
  showCard(title, rows, follows) {
    const card = $("halo"), opened = card.hidden;
    card.hidden = false;
    if (card.dataset.title !== title || opened) {
      card.dataset.title = title;
      const cross = element("button", {onclick: () => this.letGo()}, "×");
      cross.setAttribute("aria-label", "close");
      this.followButton = element("button", {onclick: () => this.follow(),
                                             title: "The camera goes with it (f)"}, "follow");
      card.replaceChildren(element("h2", {}, title, cross), element("dl"),
                           element("div", {className: "row"}, this.followButton));
      card.scrollIntoView({block: "nearest"});
    }
    this.followButton.setAttribute("aria-pressed", String(Boolean(follows)));
    card.querySelector("dl").replaceChildren(...rows.flatMap(
      ([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  }

  // Handle a click: on a thing; on a circle, which selects its group; else, or on the circle of the
  // selected group, the nearest particle is selected. The second click of a double click is
  // ignored.
  pick(x, y) {
    if (this.things.click(x, y)) {
      return;
    }
    let best = null, nearest = 14;
    const now = performance.now(), twice = now - (this.picked || -1e9) < 400;
    this.picked = now;
    if (twice) {
      return;
    }
    for (const h of (this.groups || []).slice(0, MOST_RINGS)) {
      const p = this.scene.project(h.centre);
      const gap = Math.hypot(p.x - x, p.y - y) - Math.min(40, 1.6 * h.radius * p.scale);
      if (p.depth > 0 && gap < nearest) {
        [best, nearest] = [h, Math.max(gap, Math.hypot(p.x - x, p.y - y) / 10 - 10)];
      }
    }
    if (best && best.colour !== this.chosen) {
      this.chooseHalo(best);
      return;
    }
    const k = this.scene.pointAt(x, y, NEAR);
    this.following = false;
    k >= 0 ? this.mark(k) : this.letGo();
  }

  // Select the particle nearest to the middle of the picture, for the keyboard.
  pickMiddle() {
    const p = this.scene.project(this.scene.camera.centre);
    this.mark(this.scene.pointAt(p.x, p.y, 1e4));
  }

  // Ask for the values of the selected particle again, once a second, while they are old: the
  // server sends those of one particle, and another viewer may have selected another one.
  askAgain(now) {
    const k = this.scene.mark, old = !this.values || this.values.step !== this.scene.head.step;
    if (k < 0 && this.values) {
      this.values = null;
      $("halo").hidden = !this.chosen;
    } else if (k >= 0 && old && now - this.asked > 1000) {
      this.asked = now;
      this.link.send({inspect: k});
    }
  }

  // Draw on light ground where the browser prefers light colours.
  followScheme(light) {
    const set = () => {
      this.scene.paper = light.matches ? 1 : 0;
      this.scene.dirty = this.scene.wipe = true;
      this.replot();
    };
    light.addEventListener("change", set);
    set();
  }

  // The key Escape: end all selections.
  escape() {
    this.things.arm(null);
    this.things.choose(-1);
    this.letGo();
  }

  addStyleControls() {
    const style = this.scene.style, again = () => { this.scene.dirty = true; };
    const slider = (name, label, min, max, step, value, set) =>
      this.slider({name, label, min, max, step, value}, v => { set(v); again(); });
    this.bodyButtons = BODIES.map(name =>
      element("button", {onclick: () => this.setBodies(name)}, name));
    this.setBodies(style.bodies);
    $("looks").append(
      element("div", {className: "slider"}, element("span", {}, "drawn as"),
              element("div", {className: "row"}, ...this.bodyButtons)),
      slider("size", "size", 0.2, 4, 0.1, 1, v => { style.size = v; }),
      slider("exposure", "brightness", -3, 3, 0.1, 0, v => { style.exposure = 2 ** v; }),
      slider("trails", "trails", 0, 1, 0.05, style.trails, v => { style.trails = v; }),
      slider("points", "most points, thousands", 20, 4000, 20, 4000, v => {
        this.most = 1000 * v;
        this.link.points = Math.min(this.link.points, this.most);
      }));
    this.looks = Object.fromEntries(["size", "exposure", "trails"].map(
      name => [name, this.sliders.get(name)]));
  }

  addButtons() {
    const on = (id, act) => $(id).addEventListener("click", act);
    on("pause", () => this.pause());
    on("step", () => this.step(1));
    on("reset", () => this.reset());
    on("back", () => this.step(-1));
    on("next", () => this.step(1));
    on("play", () => this.play(!this.playing));
    on("home", () => this.scene.home());
    on("fold", () => this.fold());
    on("spin", () => this.spin());
    on("rings", () => this.rings());
    on("full", () => this.fullScreen());
    on("picture", () => this.picture());
    on("film", () => this.film());
    on("copy", () => this.copyLink());
    $("full").hidden = !document.fullscreenEnabled;
    $("film").hidden = !Film.type();
    document.addEventListener("fullscreenchange", () =>
      $("full").setAttribute("aria-pressed", String(Boolean(document.fullscreenElement))));
    $("colours").addEventListener("keydown", e => {
      const way = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
      if (way) {
        e.preventDefault();
        this.nextColour(way);
      }
    });
    $("seek").addEventListener("input", () => this.goTo(Number($("seek").value)));
    $("seed").addEventListener("keydown", e => e.key === "Enter" && this.reset());
  }

  pause() {
    this.state.kind === "flock" ? this.link.send({pause: !this.state.paused})
                                : this.play(!this.playing);
  }

  // One step of a run, or the next (1) or previous (-1) frame of a file.
  step(way) {
    this.state.kind === "flock" ? this.link.send({step: 1})
                                : this.goTo(this.state.frame + way);
  }

  // Start the flock again with the seed of the page.
  reset() {
    const seed = $("seed").value.trim();
    const fine = /^\d{1,20}$/.test(seed) && BigInt(seed) < 2n ** 64n;
    $("seed").setAttribute("aria-invalid", String(!fine));
    if (fine) {
      this.link.send({reset: seed});
    } else {
      this.say("no reset: a seed is a whole number from 0 to 2^64 - 1");
      $("seed").focus();
    }
  }

  // A key is hit by accident: the flock is lost only where it is hit twice.
  askReset() {
    const now = performance.now();
    if (this.state.kind !== "flock" || !this.state.can_reset) {
      return;
    }
    if (now - (this.pressed || -1e9) < 4000) {
      this.pressed = 0;
      this.reset();
    } else {
      this.pressed = now;
      this.say("press r once more to start anew");
    }
  }

  // Show another frame of a file, modulo their number; at most one command in 40 ms.
  goTo(frame) {
    const n = this.state.frames || 1;
    if (n > 1 && !this.going) {
      this.going = true;
      setTimeout(() => { this.going = false; }, 40);
      this.link.send({frame: (frame + n) % n});
    }
  }

  play(go) {
    this.playing = go && this.state.frames > 1;
    $("play").textContent = this.playing ? "stop" : "play";
    if (this.playing) {
      this.step(1);
    }
  }

  setBodies(name) {
    this.scene.style.bodies = name;
    this.scene.thrift = 0;
    this.scene.dirty = this.scene.wipe = true;
    this.bodyButtons.forEach(b => b.setAttribute("aria-pressed", String(b.textContent === name)));
  }

  fullScreen() {
    document.fullscreenElement ? document.exitFullscreen()
                               : document.documentElement.requestFullscreen().catch(() => {});
  }

  async picture() {
    keepFile(await takePicture(this), nameOf(this, "png"));
  }

  // Begin a film, or end it and keep the file.
  film() {
    if (this.filming) {
      this.filming.stop();
      this.filming = null;
    } else {
      this.filming = new Film(this.scene.canvas,
                              (blob, kind) => keepFile(blob, nameOf(this, kind)));
    }
    $("film").setAttribute("aria-pressed", String(Boolean(this.filming)));
  }

  async copyLink() {
    this.remember();
    let text = "the link is copied";
    try {
      await navigator.clipboard.writeText(location.href);
    } catch (error) {
      text = "the address above is the link";
    }
    this.say(text);
  }

  // Write the link of the view to the address of the page.
  remember() {
    const text = linkOf(this);
    if (text !== this.remembered) {
      this.remembered = text;
      history.replaceState(null, "", `#${text}`);
    }
  }

  // Tell the camera which part of the canvas is free: beside the controls, or above them on a
  // narrow screen, and below the title; also beside the gauge, where it would cover much of that
  // part.
  fitBesidePanel() {
    const side = $("side").getBoundingClientRect(), w = innerWidth, h = innerHeight;
    const beside = side.width > 0 && side.height > 0.9 * h, gauge = $("gauge");
    const below = side.width > 0 && !beside;
    const right = beside ? side.left : w, bottom = below ? side.top : h;
    const top = Math.min(0.25 * h, document.querySelector("header").getBoundingClientRect().bottom);
    gauge.style.bottom = `${h - bottom + 8}px`;
    const spare = right - (bottom - top), [gw, gh] = [88, 84];
    const left = spare > 0 && spare < 2 * gw ? gw : 0, low = spare <= 0 ? bottom - gh : bottom;
    this.scene.camera.aside = [(left + right) / w - 1, 1 - (top + low) / h];
    this.scene.camera.room = [(right - left) / w, (low - top) / h];
    this.scene.dirty = this.scene.wipe = true;
    this.replot();
  }

  fold() {
    document.body.classList.toggle("folded");
    this.fitBesidePanel();
    $("fold").setAttribute("aria-expanded", String(!document.body.classList.contains("folded")));
  }

  spin() {
    this.scene.spin = !this.scene.spin;
    $("spin").setAttribute("aria-pressed", String(this.scene.spin));
  }

  rings() {
    this.scene.showRings = !this.scene.showRings;
    this.scene.dirty = true;
    $("rings").setAttribute("aria-pressed", String(this.scene.showRings));
  }

  // Draw plot, legend and curves again, for another size or other colours.
  replot() {
    drawPlot($("plot"), this.plot);
    drawLegend($("legend"), this.state, this.scene.head, this.scene.paper);
    if (this.rows) {
      this.curves.setRows(this.rows);
    }
  }

  // Show the facts below the title: particles, step, rates.
  tell() {
    const h = this.scene.head, s = this.state, parts = [];
    const bold = x => element("b", {}, x);
    parts.push(bold(shown(s.particles)), " particles");
    if (h && h.shown < h.all) {
      parts.push(", ", bold(shown(h.shown)), " of them shown");
    }
    if (h && s.kind === "flock") {
      parts.push(" · step ", bold(shown(h.step)), " · ", bold(shown(s.rate, 2)), " steps/s");
    }
    if (h && s.kind === "file" && s.frames > 1) {
      parts.push(" · frame ", bold(shown(s.frame + 1)), " of ", bold(shown(s.frames)));
    }
    if (s.kind === "file" && Number.isFinite(s.step)) {
      parts.push(" · step ", bold(shown(s.step)));
    }
    if (h && s.kind === "file" && Number.isFinite(h.time)) {
      parts.push(" · time ", bold(shown(h.time, 4)));
    }
    if (this.rate && s.kind === "flock") {
      parts.push(" · ", bold(shown(Math.round(this.rate))), " frames/s");
    }
    $("facts").replaceChildren(...parts);
    drawLegend($("legend"), s, h, this.scene.paper);
  }

  // Adapt detail and number of points to the machine: fewer below 12 frames a second, more above
  // 40. gap: time between the last two frames that were drawn [ms]
  adapt(gap) {
    this.gap = 0.9 * (this.gap || gap) + 0.1 * gap;
    const now = performance.now();
    if (now - (this.adapted || 0) < 1200 || !this.scene.head) {
      return;
    }
    this.adapted = now;
    const {shown: drawn, all} = this.scene.head;
    const {scene} = this;
    if (this.gap > 80 && scene.style.bodies === "auto" && scene.level() && scene.thrift < 2) {
      scene.thrift++;
      scene.dirty = scene.wipe = true;
    } else if (this.gap > 80 && this.link.points > FEWEST) {
      this.link.points = Math.max(FEWEST, Math.round(Math.min(drawn, this.link.points) * 0.6));
    } else if (this.gap < 24 && drawn < all && drawn >= this.link.points) {
      this.link.points = Math.min(this.most, this.link.points * 2);
    }
  }

  // Once for each frame of the screen: take the points that wait, draw, and update the texts twice
  // a second.
  tick(now) {
    requestAnimationFrame(t => this.tick(t));
    if (this.waiting) {
      const bytes = this.waiting;
      this.waiting = null;
      const old = this.scene.setPoints(bytes);
      if (old) {
        this.link.giveBack(old);
      }
      if (this.before !== undefined && this.before !== this.scene.head.epoch) {
        this.before = undefined;
        this.scene.home();
      }
      this.link.seen();
      this.frames++;
      document.body.dataset.frames = this.frames;
      document.body.dataset.step = this.scene.head.step;
      if (this.playing) {
        setTimeout(() => this.playing && this.step(1), 60);
      }
    }
    if (this.wished && this.state.kind && this.scene.head) {
      applyLink(this, this.wished);
      this.wished = null;
    }
    if (this.scene.draw(now)) {
      this.adapt(Math.min(500, now - (this.ticked || now)));
      this.gauge.draw();
    }
    this.ticked = now;
    if (now - (this.told || 0) > 500) {
      this.rate = (this.frames - (this.counted || 0)) / (now - (this.told || 0)) * 1000;
      this.counted = this.frames;
      this.told = now;
      this.tell();
      this.askAgain(now);
      if (this.scene.head && !this.wished && this.state.kind) {
        this.remember();
      }
    }
  }
}

const three = v => v.map(x => shown(x, 4)).join(", ");

// Names and values of a group, as view_groups_json of cli/view/view.h names them.
function haloRows(halo) {
  const rows = [["members", shown(halo.members)],
                ["mass", halo.mass === null ? "not known" : shown(halo.mass, 4)],
                ["centre", three(halo.centre)], ["rms radius", shown(halo.radius)],
                ["largest radius", shown(halo.radius_max)],
                ["b/a, c/a", halo.shape.map(x => shown(x, 2)).join(", ")]];
  if (halo.velocity) {
    rows.push(["velocity", three(halo.velocity)], ["dispersion", shown(halo.dispersion)]);
  }
  return rows;
}

// Values of a particle, as viewer_particle of cli/view/viewer.h names them.
function particleRows(v) {
  const named = {position: "position", velocity: "velocity", speed: "speed", group: "group",
                 id: "id", mass: "mass", species: "species", type: "type", potential: "potential"};
  return Object.entries(named).filter(([name]) => v[name] !== undefined && v[name] !== null)
    .map(([name, label]) => [label, Array.isArray(v[name]) ? three(v[name])
                                    : typeof v[name] === "string" ? v[name] : shown(v[name], 4)]);
}

window.addEventListener("DOMContentLoaded", () => {
  try {
    window.kith = new View();
  } catch (error) {
    $("link").className = "lost";
    $("link").lastChild.textContent = error.message;
  }
});
