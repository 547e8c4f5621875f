// Charts, each with a table of the same numbers beside it.
"use strict";

const charts = new Map(); // by the element that holds one

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// errorBars draws two standard errors to each side of the points. errs() returns them.
function errorBars(errs) {
  return (u) => {
    const c = u.ctx, width = 3 * devicePixelRatio;
    c.save();
    c.beginPath();
    c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    c.clip();
    c.strokeStyle = colour("--series");
    c.globalAlpha = 0.75;
    c.lineWidth = devicePixelRatio;
    c.beginPath();
    u.data[0].forEach((x, i) => {
      const err = 2 * errs()[i], y = u.data[1][i];
      if (!(err > 0)) return;
      const at = u.valToPos(x, "x", true), top = u.valToPos(y + err, "y", true), bottom = u.valToPos(y - err, "y", true);
      c.moveTo(at, top); c.lineTo(at, bottom);
      c.moveTo(at - width, top); c.lineTo(at + width, top);
      c.moveTo(at - width, bottom); c.lineTo(at + width, bottom);
    });
    c.stroke();
    c.restore();
  };
}

// dashed draws lines to compare with, and their names over everything else. lines() returns them. Lines that lie too
// close for two names have one.
function dashed(lines) {
  return (u) => {
    const c = u.ctx, right = u.bbox.left + u.bbox.width, groups = [];
    c.save();
    c.strokeStyle = c.fillStyle = colour("--soft");
    c.lineWidth = devicePixelRatio;
    c.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    c.font = u.axes[0].font[0];
    for (const l of [...lines()].sort((a, b) => b.value - a.value)) { // from the top
      const at = u.valToPos(l.value, "y", true), last = groups[groups.length - 1];
      c.beginPath();
      c.moveTo(u.bbox.left, at);
      c.lineTo(right, at);
      c.stroke();
      if (last && at - last.at < 1.5 * parseFloat(c.font)) last.name += ", " + l.name;
      else groups.push({ at, name: l.name });
    }
    c.setLineDash([]);
    c.lineJoin = "round";
    c.lineWidth = 4 * devicePixelRatio;
    c.strokeStyle = colour("--card"); // around the letters, where a curve crosses them
    groups.forEach(({ at, name }, i) => {
      const above = at - u.bbox.top > 1.5 * parseFloat(c.font), side = i % 2 ? right : u.bbox.left;
      const height = above ? at - 2 * devicePixelRatio : at + 3 * devicePixelRatio;
      c.textBaseline = above ? "bottom" : "top";
      c.textAlign = i % 2 ? "right" : "left"; // names of neighbouring lines do not cover each other
      c.strokeText(name, side, height);
      c.fillText(name, side, height);
    });
    c.restore();
  };
}

// range leaves room for the error bars, for the lines, and for a series in which nothing changes.
function range(errs, lines) {
  return (u) => {
    let low = Infinity, high = -Infinity;
    u.data[1].forEach((y, i) => {
      low = Math.min(low, y - 2 * (errs()[i] || 0));
      high = Math.max(high, y + 2 * (errs()[i] || 0));
    });
    for (const l of lines()) {
      low = Math.min(low, l.value);
      high = Math.max(high, l.value);
    }
    if (!(low <= high)) return [0, 1];
    const room = (high - low || Math.abs(high) || 1) * 0.08;
    const named = lines().length ? 2.5 : 1; // a name stands above its line
    return [low >= 0 && low - room < 0 ? 0 : low - room, high + named * room];
  };
}

// drawChart shows data = { x, y, errs, lines, time, first, unit } in an element. first and unit are the titles of the
// axes.
function drawChart(holder, data) {
  const old = charts.get(holder);
  if (old && old.time === data.time) {
    old.errs = data.errs || [];
    old.lines = data.lines || [];
    old.plot.setData([data.x, data.y]);
    return;
  }
  if (old) old.stop();
  const kept = { errs: data.errs || [], lines: data.lines || [], time: data.time, first: data.first, unit: data.unit };
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const font = `${0.75 * rem}px ${getComputedStyle(document.body).fontFamily}`;
  const axis = (label, size) => ({ label, labelFont: font, labelSize: 1.5 * rem, labelGap: 0, font, stroke: colour("--soft"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, size });
  const size = () => ({ width: Math.max(120, holder.clientWidth), height: Math.max(100, holder.clientHeight) });
  const x = Object.assign(axis(data.first, 2.2 * rem), data.time ? { space: 6 * rem, incrs: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400], values: (_, at) => at.map((s) => new Date(1000 * s).toLocaleTimeString()) } : { space: 3 * rem, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000] });
  const y = Object.assign(axis(data.unit, 4.8 * rem), { space: 2 * rem, values: (_, at) => at.map((v) => number(v)) });
  kept.plot = new uPlot({
    ...size(),
    scales: { x: { time: false, range: (_, min, max) => (min === null ? [0, 1] : min === max ? [min - 1, max + 1] : [min, max]) }, y: { range: range(() => kept.errs, () => kept.lines) } },
    axes: [x, y],
    legend: { show: false },
    cursor: { show: false },
    series: [{}, { stroke: colour("--series"), width: 2, points: { show: !data.time, size: 5, stroke: colour("--series"), fill: colour("--card") } }],
    hooks: { draw: [dashed(() => kept.lines), errorBars(() => kept.errs)] },
  }, [data.x, data.y], holder);
  const seen = new ResizeObserver(() => {
    if (parseFloat(getComputedStyle(document.documentElement).fontSize) !== rem) redraw(); // another screen
    else kept.plot.setSize(size());
  });
  seen.observe(holder);
  kept.stop = () => { seen.disconnect(); kept.plot.destroy(); charts.delete(holder); };
  charts.set(holder, kept);
}

// Colours and letters are drawn anew when they change.
function redraw() {
  for (const [holder, c] of [...charts]) {
    const data = { x: c.plot.data[0], y: c.plot.data[1], errs: c.errs, lines: c.lines, time: c.time, first: c.first, unit: c.unit };
    c.stop();
    drawChart(holder, data);
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// number writes a number for people: four digits.
function number(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e9 || size < 1e-4) return v.toExponential(2);
  return Number(v.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 8 });
}
