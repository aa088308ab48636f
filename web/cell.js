// SPDX-License-Identifier: BSD-3-Clause
// A cell of a notebook: draws the points that kith.view() of the Python package sends.
"use strict";

// A view without controls and without a server; it has the members of View that addPointer uses.
// canvas: where to draw
class Cell {
  constructor(canvas) {
    this.scene = new Scene(canvas);
    this.groups = [];
    addPointer(this);
    const tick = now => {
      if (canvas.isConnected) {
        this.scene.draw(now);
        requestAnimationFrame(tick);
      }
    };
    requestAnimationFrame(tick);
  }

  // message: points in base64, laid out as web_points in web/web.h describes
  show(message) {
    this.scene.setPoints(Uint8Array.from(atob(message), c => c.charCodeAt(0)));
  }

  // A click selects nothing here.
  pick() {}
}
