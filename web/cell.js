// SPDX-License-Identifier: BSD-3-Clause
// A cell of a notebook: draws the points that kith.view() of the Python package sends.
"use strict";

// canvas: where to draw; messages of points come in base64, as web/web.h lays them out.
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

  show(message) {
    this.scene.setPoints(Uint8Array.from(atob(message), c => c.charCodeAt(0)));
  }

  pick() {}
}
