// A drawing on a canvas, and the picture of 28×28 pixels that the model sees: scaled to 20×20 and centred
// by mass, as the pictures of MNIST are.
import { side } from "./softmax.js";

const box = 20;

export class Drawing {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.pen = canvas.getContext("2d", { willReadFrequently: true });
    let last = null;
    const at = (event) => {
      const frame = canvas.getBoundingClientRect();
      return [((event.clientX - frame.left) * canvas.width) / frame.width, ((event.clientY - frame.top) * canvas.height) / frame.height];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      last = at(event);
      this.line([last, last]);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const next = at(event);
      this.line([last, next]);
      last = next;
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, () => {
        last = null;
        this.changed();
      });
    }
  }

  line(points) {
    Object.assign(this.pen, { lineWidth: 22, lineCap: "round", lineJoin: "round", strokeStyle: "#1a1a1a" });
    this.pen.beginPath();
    this.pen.moveTo(...points[0]);
    for (const point of points.slice(1)) this.pen.lineTo(...point);
    this.pen.stroke();
  }

  clear() {
    this.pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.changed();
  }

  /** The picture, or null where nothing is drawn. Its values are in [0, 1]. */
  picture() {
    const { width, height } = this.canvas;
    const ink = this.pen.getImageData(0, 0, width, height).data;
    let [left, top, right, bottom] = [width, height, -1, -1];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (ink[4 * (y * width + x) + 3] > 0) [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      }
    }
    if (right < 0) return null;
    const [w, h] = [right - left + 1, bottom - top + 1];
    const scale = box / Math.max(w, h);
    const small = this.#scaled(left, top, w, h, (side - w * scale) / 2, (side - h * scale) / 2, scale);
    let [mass, mx, my] = [0, 0, 0];
    small.forEach((v, i) => {
      mass += v;
      mx += v * (i % side);
      my += v * Math.floor(i / side);
    });
    const centre = (side - 1) / 2;
    const [dx, dy] = [Math.round(centre - mx / mass), Math.round(centre - my / mass)];
    return small.map((_, i) => {
      const [x, y] = [(i % side) - dx, Math.floor(i / side) - dy];
      return x >= 0 && x < side && y >= 0 && y < side ? small[y * side + x] : 0;
    });
  }

  #scaled(left, top, w, h, x, y, scale) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const pen = canvas.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(this.canvas, left, top, w, h, x, y, w * scale, h * scale);
    const ink = pen.getImageData(0, 0, side, side).data;
    return Float64Array.from({ length: side * side }, (_, i) => ink[4 * i + 3] / 255);
  }
}
