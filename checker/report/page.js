"use strict";
// Draws the timeline from the data of the page. Texts of the history are only
// ever set as text, never as markup.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const stage = document.getElementById("timeline");
const gutter = 116, axis = 24, row = 24, markRow = 20, brokerHeight = 66, idleHeight = 28, controlHeight = 24;
const markLabel = data.marks.length > 6 ? 260 : 560;
const proof = new Map(data.proof.map((i, n) => [i, n + 1]));

// Elements.

function svg(parent, name, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}

function html(parent, name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}

const fit = (text, width) => {
  const letters = Math.floor(width / 7.6);
  return text.length <= letters ? text : letters < 8 ? "" : text.slice(0, letters - 1) + "…";
};

// fitPair leaves the second text whole, if there is room for it and for some of the
// first: a long value must not hide what was answered.
const fitPair = (first, second, width) => {
  const text = second ? `${first} → ${second}` : first, rest = second ? ` → ${second}` : "";
  if (text.length * 7.6 <= width) return text;
  const head = fit(first, width - rest.length * 7.6);
  return head ? head + rest : fit(text, width);
};

// A time as the history states it: the page counts from a base, because a time
// may have more digits than a number of the browser.
const stated = (t) => exact.get(t) ?? String(BigInt(data.base) + BigInt(Math.round(t)));

// Of a history that lasts too long for that, items state their times themselves.
const exact = new Map();
for (const o of data.ops) if (o.exact) exact.set(o.call, o.exact[0]).set(o.return, o.exact[1]);
for (const m of data.marks) if (m.exact) exact.set(m.t, m.exact[0]).set(m.until, m.exact[1]);
const began = (item) => (item.op ?? item.mark).exact?.[0] ?? stated(item.t);
const ended = (item) => (item.op ?? item.mark).exact?.[1] ?? stated(item.end);

// Time: the axis gives each event room, and idle time no more than it needs.

const knots = (() => {
  const times = new Set();
  for (const o of data.ops) times.add(o.call).add(o.return ?? o.call);
  for (const m of data.marks) times.add(m.t);
  for (const p of data.partitions ?? []) for (const c of p.control) times.add(c.t);
  if (times.size === 0) times.add(0);
  const sorted = [...times].sort((a, b) => a - b);
  const steps = sorted.slice(1).map((t, i) => t - sorted[i]).sort((a, b) => a - b);
  const usual = steps[steps.length >> 1] || 1;
  const places = [0], pieces = (g) => sorted.filter((t) => g.from < t && t < g.to).length + 1; // by faults that are drawn in it
  const gaps = (data.gaps ?? []).map((g) => ({ ...g, wide: Math.max(1, 6 / pieces(g)) }));
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i] - sorted[i - 1];
    const hidden = gaps.find((g) => g.from <= sorted[i - 1] && sorted[i] <= g.to);
    places.push(places[i - 1] + (hidden ? hidden.wide : Math.min(5, Math.max(0.5, Math.log2(1 + gap / usual)))));
  }
  return { times: sorted, places };
})();
const lastTime = knots.times.at(-1), last = knots.places.at(-1) || 1;
const begin = -0.03 * last, length = 1.16 * last; // there is room for labels behind the last event

function between(from, to, value) {
  let low = 0, high = from.length - 1;
  if (value <= from[0]) return to[0];
  if (value >= from[high]) return to[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle; else high = middle;
  }
  return to[low] + (value - from[low]) / (from[high] - from[low]) * (to[high] - to[low]);
}

// The view: which part of the axis is seen.

const view = { from: begin, to: length };
let width = 0, cursor = null, selected = null, hovered = null, partition = data.partition;
const whole = { from: begin, to: length };
const x = (t, seen = view) => gutter + (between(knots.times, knots.places, t) - seen.from) / (seen.to - seen.from) * (width - gutter);
const timeAt = (px) => between(knots.places, knots.times, view.from + (px - gutter) / (width - gutter) * (view.to - view.from));

function look(from, to) {
  const size = Math.min(length - begin, Math.max(1.2, to - from));
  view.from = Math.min(Math.max(begin, from), length - size);
  view.to = view.from + size;
  schedule();
}

// zoom keeps the place of a point: of the selected item, if that is seen.
function zoom(factor, around = selected ? between(knots.times, knots.places, selected.t) : -1) {
  if (around < view.from || around > view.to) around = (view.from + view.to) / 2;
  look(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

function pan(part) {
  const by = (view.to - view.from) * part;
  look(view.from + by, view.to + by);
}

// Items: operations and marks, in order of time.

const items = [
  ...data.ops.map((o) => ({ i: o.i, t: o.call, end: o.return ?? lastTime, op: o, lane: o.lane + 1 })),
  ...data.marks.map((m) => ({ i: m.i, t: m.t, end: m.until ?? m.t, mark: m, lane: 0 })),
].sort((a, b) => a.t - b.t || a.i - b.i);
const byIndex = new Map(items.map((item) => [item.i, item]));

// Operations of one client that overlap stand in rows of its lane.
const lanes = data.lanes.map((name) => ({ name, ends: [] }));
for (const item of items) {
  if (!item.op) continue;
  const { ends } = lanes[item.op.lane];
  let r = ends.findIndex((end) => end <= item.t);
  if (r < 0) r = ends.length < 6 ? ends.length : 5;
  ends[r] = item.op.return === null ? Infinity : item.end;
  item.row = r;
}
let markRows = 0; // as many as the faults take where all are seen, so that no zoom moves the lanes

function describe(item) {
  const number = proof.get(item.i);
  const proves = number ? `, proof ${number}` : "";
  if (item.mark) return `${item.mark.kind}: ${item.mark.text}, at ${began(item)}${proves}`;
  const o = item.op;
  const answer = o.outcome === "open" ? "never answered" : o.answer;
  return `${data.lanes[o.lane]}: ${o.asked}, ${answer}, from ${began(item)}${o.return === null ? "" : " to " + ended(item)}${proves}`;
}

// Drawing.

let waiting = false;
function schedule() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw() {
  width = Math.max(360, stage.clientWidth);
  markRows = packMarks(whole).rows;
  const focused = stage.contains(document.activeElement);
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const back = svg(root, "g", {}), plot = svg(root, "g", { "clip-path": "url(#plot)" }), front = svg(root, "g", {});
  let y = axis;
  const tops = { marks: y, brokers: [] }, marks = packMarks(view).seen;
  if (data.marks.length) y = lane(back, y, markRows * markRow + 8, "faults", 0);
  lanes.forEach((l, i) => {
    l.top = y;
    y = lane(back, y, Math.max(1, l.ends.length) * row + 8, l.name, i + 1);
  });
  const inner = (data.partitions ?? [])[partition];
  if (inner) {
    tops.control = y;
    y = lane(back, y, controlHeight, "controller", 1);
    inner.replicas.forEach((states, i) => {
      tops.brokers.push(y);
      y = lane(back, y, states.some((r) => r.role !== "none" || r.leo > 0) ? brokerHeight : idleHeight, `broker ${i + 1}`, i);
    });
  }
  const height = y + (data.gaps?.length ? 20 : 4); // below the lanes stands what is not drawn
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  const defs = svg(root, "defs", {});
  svg(svg(defs, "clipPath", { id: "plot" }), "rect", { x: gutter, y: 0, width: width - gutter, height });
  svg(svg(defs, "pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }), "path", { d: "M0 0V6" });
  drawAxis(plot, height);
  drawGaps(plot, height);
  if (inner) drawCluster(plot, inner, tops, y);
  drawMarks(plot, marks, tops.marks, height);
  drawOps(plot);
  svg(front, "path", { class: "grid", d: `M${gutter} 0V${height}` });
  if (cursor !== null) svg(plot, "path", { class: "cursor", id: "cursor", d: `M${x(cursor)} ${axis - 6}V${height}` });
  stage.replaceChildren(root);
  if (focused) element(selected)?.focus({ preventScroll: true });
  drawOverview();
}

function lane(parent, y, height, name, n) {
  svg(parent, "rect", { class: n % 2 ? "lane odd" : "lane", x: 0, y, width, height });
  const label = svg(parent, "text", { class: "name", x: 10, y: y + 17 }, fit(name, gutter - 16));
  svg(label, "title", {}, name);
  return y + height;
}

function drawAxis(parent, height) {
  let free = gutter;
  for (const t of knots.times) {
    const at = x(t), label = stated(t);
    if (at < free || at > width) continue;
    svg(parent, "path", { class: "grid", d: `M${at} ${axis - 5}V${height}` });
    if (at + label.length * 7 < width) svg(parent, "text", { class: "soft", x: at + 2, y: axis - 9 }, label);
    free = at + label.length * 7 + 24;
  }
}

function drawGaps(parent, height) {
  for (const g of data.gaps ?? []) {
    const from = Math.min(x(g.from), x(g.to) - 16), to = Math.max(from + 16, x(g.to));
    const hatched = svg(parent, "rect", { class: "break", x: from, y: axis, width: to - from, height: height - axis });
    svg(hatched, "title", {}, `${g.items} operations and marks are not drawn`);
    svg(parent, "text", { class: "soft left-out", x: from + 4, y: height - 6 }, fit(`${g.items.toLocaleString("en")} not drawn`, Math.max(to - from, 150)));
  }
}

function itemGroup(parent, item) {
  return svg(parent, "g", { class: item === selected ? "item on" : "item", role: "button", tabindex: item === active() ? 0 : -1, "data-i": item.i, "aria-label": describe(item) });
}

// caption is what is seen of an item; what is heard is its label, which is whole.
function caption(g, look, at, y, text) {
  svg(g, "text", { class: look, x: at, y, "aria-hidden": true }, text);
}

function badge(g, item, at, y) {
  const number = proof.get(item.i);
  if (!number) return 0;
  svg(g, "circle", { class: "badge", cx: at + 9, cy: y, r: 8 });
  caption(g, "number", at + 9, y + 4, number);
  return 18;
}

// packMarks puts marks into rows in which they do not cover each other. Those
// for which there is no room are drawn without their text.
function packMarks(view) {
  const labelled = 7, free = Array(labelled + 1).fill(-Infinity), packed = []; // the last row is for those without text
  for (const item of items) {
    if (!item.mark) continue;
    const m = item.mark, from = x(m.t, view), to = m.until === undefined ? from : x(m.until, view);
    let r = free.slice(0, labelled).findIndex((end) => end <= from - 6);
    const crowded = r < 0;
    if (crowded) r = labelled;
    const label = crowded ? "" : fit(m.text, Math.min(markLabel, width - (to > from + 8 ? to : from) - 12));
    const size = 16 + label.length * 7 + (proof.has(m.i) ? 18 : 0), start = size < to - from ? from : to; // of the label: within, or beside
    free[r] = Math.max(free[r], to + 8, start + size + 6);
    packed.push({ item, from, to, r, crowded, label, start });
  }
  const rows = free.filter((end) => end > -Infinity).length;
  return { rows, seen: packed.filter((m) => m.item === active() || m.from <= width && Math.max(m.to, m.from + markLabel + 20) >= gutter) };
}

function drawMarks(parent, marks, top, height) {
  const rowTop = (r) => top + 4 + Math.min(r, markRows - 1) * markRow, proves = (item) => proof.has(item.i) ? " proves" : "";
  for (const { item, from, r, crowded } of marks) if (!crowded || proof.has(item.i)) svg(parent, "path", { class: "across" + proves(item), d: `M${from} ${rowTop(r) + 16}V${height}` });
  for (const { item, from, to, r, label, start } of marks) {
    const y = rowTop(r), g = itemGroup(parent, item), look = (item.mark.kind === "nemesis" ? "mark" : "mark note") + proves(item);
    if (to > from + 8) svg(g, "rect", { class: look, x: from, y: y + 1, width: to - from, height: 16, rx: 2 });
    else svg(g, "path", { class: look, d: `M${from - 5} ${y + 2}H${from + 5}L${from} ${y + 14}Z` });
    svg(g, "rect", { class: "ring", x: from - 6, y: y - 1, width: Math.max(14, to - from + 8), height: 20, rx: 3 });
    const shift = badge(g, item, start + 4, y + 9);
    if (label) caption(g, "fault", start + 8 + shift, y + 13, label);
  }
}

function outline(outcome, from, to, y) {
  const h = 18, middle = y + h / 2, tip = Math.min(5, (to - from) / 2);
  switch (outcome) {
    case "ok": return `M${from} ${y}H${to}V${y + h}H${from}Z`;
    case "fail": return `M${from + tip} ${y}H${to - tip}L${to} ${middle}L${to - tip} ${y + h}H${from + tip}L${from} ${middle}Z`;
    case "info": return `M${from} ${y}H${to}L${to - tip} ${y + h / 4}L${to} ${middle}L${to - tip} ${y + 3 * h / 4}L${to} ${y + h}H${from}Z`;
  }
  return `M${from} ${y}H${to - tip}L${to} ${middle}L${to - tip} ${y + h}H${from}`;
}

function drawOps(parent) {
  const next = new Map(); // where the next bar of a row begins
  const seen = [];
  for (let n = items.length - 1; n >= 0; n--) {
    const item = items[n];
    if (!item.op) continue;
    const from = x(item.t), to = Math.max(from + 7, item.op.return === null ? width - 4 : x(item.end));
    const key = item.op.lane * 8 + item.row;
    const room = Math.min(next.get(key) ?? width, width) - from;
    next.set(key, from);
    if (item === active() || to >= gutter && from <= width) seen.push({ item, from, to, room });
  }
  seen.reverse().sort((a, b) => proof.has(a.item.i) - proof.has(b.item.i)); // the proof on top
  for (const { item, from, to, room } of seen) {
    const o = item.op, y = lanes[o.lane].top + 7 + item.row * row, g = itemGroup(parent, item);
    svg(g, "path", { class: `op ${o.outcome}${proof.has(o.i) ? " proves" : ""}`, d: outline(o.outcome, from, to, y) });
    svg(g, "rect", { class: "ring", x: from - 3, y: y - 3, width: to - from + 6, height: 24, rx: 3 });
    const answer = o.answer.replace(/^ok /, ""), text = answer ? `${o.asked} → ${answer}` : o.asked, size = text.length * 7.6 + (proof.has(o.i) ? 28 : 10);
    const beside = size > to - from && (to - from < 40 || size < room - (to - from));
    const start = beside ? to : Math.max(from, gutter);
    const shift = badge(g, item, start + 2, y + 9), label = fitPair(o.asked, answer, (beside ? room : Math.min(room, to - from)) - (start - from) - 10 - shift);
    if (label) caption(g, "mono", start + 5 + shift, y + 13.5, label);
  }
}

// What went on inside.

function bands(states, visit) {
  states.forEach((s, i) => {
    const from = Math.max(gutter, x(s.t)), to = i + 1 < states.length ? x(states[i + 1].t) : width;
    if (to > gutter && from < width && to > from) visit(s, from, to);
  });
}

// merged joins neighbours that look alike.
function merged(states, key) {
  return states.filter((s, i) => i === 0 || key(s) !== key(states[i - 1]));
}

function drawCluster(parent, inner, tops, bottom) {
  const looks = (c) => `${c.leader} ${c.epoch} ${c.isr}`;
  bands(merged(inner.control, looks), (c, from, to) => {
    const band = svg(parent, "rect", { class: c.leader ? "role control" : "role vacant", x: from, y: tops.control + 3, width: to - from, height: 18 });
    const words = [`${c.leader ? "leader " + c.leader : "no leader"} · epoch ${c.epoch} · ISR ${c.isr.join(",") || "none"}`, `${c.leader || "none"} · e${c.epoch} · ${c.isr.join(",") || "none"}`];
    svg(band, "title", {}, words[0]);
    const text = words.find((w) => w.length * 7 < to - from - 8);
    if (text) svg(parent, "text", { class: "soft", x: from + 5, y: tops.control + 16 }, text);
  });
  const top = Math.max(1, ...inner.replicas.flat().map((r) => r.leo));
  inner.replicas.forEach((states, b) => {
    const y = tops.brokers[b], idle = (tops.brokers[b + 1] ?? bottom) - y < brokerHeight, level = (n) => y + brokerHeight - 6 - n / top * (brokerHeight - 44);
    bands(merged(states, (r) => `${r.role} ${r.epoch} ${r.state} ${r.fenced}`), (r, from, to) => {
      const down = r.state !== "running";
      const band = svg(parent, "rect", { class: `role ${r.role}`, x: from, y: y + 4, width: to - from, height: 16 });
      if (down) svg(parent, "rect", { class: "hatch", x: from, y: y + 4, width: to - from, height: (idle ? idleHeight : brokerHeight) - 8 });
      const what = down ? r.state : r.role === "none" ? "no role" : `${r.role} e${r.epoch}`;
      svg(band, "title", {}, `${r.state}${r.fenced ? ", fenced" : ""}, ${r.role === "none" ? "no role" : r.role + " of epoch " + r.epoch}`);
      const text = fit(what + (r.fenced ? ", fenced" : ""), to - from - 2);
      if (text) svg(parent, "text", { class: "soft", x: from + 5, y: y + 16 }, text);
    });
    bands(merged(inner.control, (c) => c.isr.includes(b + 1)), (c, from, to) => {
      if (c.isr.includes(b + 1)) svg(parent, "path", { class: "insync", d: `M${from} ${y + 22}H${to}` });
    });
    if (idle) return;
    bands(merged(states, (r) => r.leo), (r, from, to) => {
      if (to - from > 16) svg(parent, "text", { class: "soft", x: from + 3, y: level(r.leo) - 3 }, r.leo);
    });
    for (const mark of ["leo", "hw"]) {
      let d = "";
      for (const r of merged(states, (r) => r[mark])) d += d ? `H${x(r.t)}V${level(r[mark])}` : `M${x(r.t)} ${level(r[mark])}`;
      svg(parent, "path", { class: mark, d: d + `H${width}` });
    }
  });
}

// state returns the one that lasted at a time.
function state(states, t) {
  let found = states[0];
  for (const s of states) if (s.t <= t) found = s; else break;
  return found;
}

function logAt(states, t) {
  let log = [];
  for (const s of states) {
    if (s.t > t) break;
    log = log.slice(0, s.keep).concat((s.values ?? []).map((v, i) => [v, s.epochs[i]]));
  }
  return log;
}

function showReplicas() {
  const panel = document.getElementById("replicas"), inner = (data.partitions ?? [])[partition];
  panel.hidden = !inner;
  if (!inner) return;
  const t = cursor ?? lastTime, c = state(inner.control, t);
  panel.replaceChildren();
  html(panel, "h3", "", `Replicas of ${inner.name} at ${stated(t)}`);
  const dl = html(panel, "dl");
  term(dl, "controller", `${c.leader ? "leader " + c.leader : "no leader"}, epoch ${c.epoch}, ISR ${c.isr.join(",") || "none"}${c.elr ? ", ELR " + c.elr.join(",") : ""}`);
  const table = html(panel, "table"), head = html(html(table, "thead"), "tr"), body = html(table, "tbody");
  for (const name of ["broker", "state", "role", "epoch", "LEO", "HW"]) html(head, "th", "", name).scope = "col";
  inner.replicas.forEach((states, b) => {
    const r = state(states, t), log = logAt(states, t), tr = html(body, "tr");
    html(tr, "td", "", b + 1);
    html(tr, "td", "", r.state + (r.fenced ? ", fenced" : ""));
    html(tr, "td", "", r.role === "none" ? "–" : r.role);
    for (const n of [r.epoch < 0 ? "–" : r.epoch, r.leo, r.hw]) html(tr, "td", "number", n);
    const cell = html(html(body, "tr"), "td", "log");
    cell.colSpan = 6;
    const most = 30, first = Math.max(0, log.length - most);
    if (first) cell.append(`${first} more `);
    if (!log.length) cell.append("empty log");
    log.slice(first).forEach(([v, e], i) => {
      const record = html(cell, "span", first + i < r.hw ? "record committed" : "record", v);
      html(record, "sub", "", e);
      record.title = `offset ${first + i}: value ${v} of leader epoch ${e}, ${first + i < r.hw ? "below" : "not below"} the high watermark`;
    });
  });
  if (data.note) html(panel, "p", "left", data.note);
}

// Details.

function term(dl, name, text, className) {
  if (text === undefined || text === "") return;
  html(dl, "dt", "", name);
  html(dl, "dd", className, text);
}

function showDetails() {
  const panel = document.getElementById("details"), item = hovered ?? selected;
  panel.replaceChildren();
  if (!item) {
    html(panel, "h3", "", "Details");
    html(panel, "p", "left", items.length ? "Point at an operation or a fault, or move to it with the keys." : "There is nothing to draw.");
    return;
  }
  const number = proof.get(item.i), dl = document.createElement("dl");
  const head = item.mark ? item.mark.kind : `${data.lanes[item.op.lane]}: ${item.op.asked.split(" ")[0]}`;
  html(panel, "h3", "said", head + (number ? `, proof ${number}` : ""));
  panel.append(dl);
  if (item.mark) {
    term(dl, "what", item.mark.text, "code");
    term(dl, "time", began(item) + (item.mark.until === undefined ? "" : ` to ${ended(item)}`));
    term(dl, "line", item.mark.line);
    return;
  }
  const o = item.op;
  term(dl, "asked", o.asked, "code");
  term(dl, "answer", o.outcome === "open" ? "never came: it may have happened or not" : o.answer, "code");
  term(dl, "should have", o.should);
  term(dl, "called", began(item));
  term(dl, "returned", o.return === null ? "never" : ended(item));
  term(dl, "line", o.line);
}

// Moving about. The active item is where the keyboard enters the timeline; it is
// drawn even where it is not seen, so that the focus is never lost.

const element = (item) => item && stage.querySelector(`[data-i="${item.i}"]`);
const active = () => selected ?? byIndex.get(data.proof[0]) ?? items[0];

function select(item, focus) {
  if (!item) return;
  selected = item;
  hovered = null;
  cursor = item.op && item.op.return !== null ? item.op.return : item.t;
  const from = between(knots.times, knots.places, item.t), to = between(knots.times, knots.places, cursor), size = view.to - view.from;
  if (from < view.from || to > view.to) {
    const middle = (from + to) / 2;
    look(middle - size / 2, middle + size / 2);
  }
  draw();
  if (focus) element(item)?.focus({ preventScroll: true });
  showDetails();
  showReplicas();
}

function neighbour(lanesAway) {
  const now = active();
  for (let l = now.lane + lanesAway; l >= 0 && l <= lanes.length; l += lanesAway) {
    const there = items.filter((item) => item.lane === l);
    if (there.length) return there.reduce((best, item) => Math.abs(item.t - now.t) < Math.abs(best.t - now.t) ? item : best);
  }
}

function nextProof(by) {
  const at = data.proof.indexOf(active()?.i), n = data.proof.length;
  if (n) return byIndex.get(data.proof[((selected ? at + by : 0) + n) % n]);
}

const step = (by) => items[Math.min(items.length - 1, Math.max(0, items.indexOf(active()) + by))];

const keys = {
  ArrowRight: (e) => e.shiftKey ? pan(0.25) : select(step(1), true),
  ArrowLeft: (e) => e.shiftKey ? pan(-0.25) : select(step(-1), true),
  ArrowDown: () => select(neighbour(1), true),
  ArrowUp: () => select(neighbour(-1), true),
  Home: () => select(items[0], true),
  End: () => select(items.at(-1), true),
  Enter: () => select(active(), true),
  " ": () => select(active(), true),
  n: () => select(nextProof(1), true),
  p: () => select(nextProof(-1), true),
  "+": () => zoom(0.6),
  "=": () => zoom(0.6),
  "-": () => zoom(1 / 0.6),
  0: () => look(begin, length),
};

stage.addEventListener("keydown", (e) => {
  const act = keys[e.key];
  if (!act || e.ctrlKey || e.altKey || e.metaKey) return;
  e.preventDefault();
  act(e);
});

stage.addEventListener("focusin", (e) => {
  const item = byIndex.get(Number(e.target.closest("[data-i]")?.dataset.i));
  if (item && item !== selected) select(item, true);
});

let drag = null;
const place = (e) => e.clientX - stage.getBoundingClientRect().left;
const moveCursor = () => document.getElementById("cursor")?.setAttribute("d", `M${x(cursor)} ${axis - 6}V9999`);

stage.addEventListener("pointermove", (e) => {
  const px = place(e);
  if (drag) {
    const by = (drag.px - px) / (width - gutter) * (drag.to - drag.from);
    drag.moved ||= Math.abs(px - drag.px) > 3;
    if (drag.moved) look(drag.from + by, drag.to + by);
    return;
  }
  if (px < gutter) return;
  hovered = byIndex.get(Number(e.target.closest("[data-i]")?.dataset.i)) ?? null;
  const first = cursor === null;
  cursor = Math.round(timeAt(px));
  if (first) draw(); else moveCursor();
  showDetails();
  showReplicas();
});
stage.addEventListener("pointerleave", () => { hovered = null; showDetails(); });
stage.addEventListener("pointerdown", (e) => { drag = { px: place(e), from: view.from, to: view.to, moved: false }; });
addEventListener("pointerup", (e) => {
  const moved = drag?.moved;
  drag = null;
  const item = byIndex.get(Number(e.target.closest?.("[data-i]")?.dataset.i));
  if (!moved && item && stage.contains(e.target)) select(item, true);
});
stage.addEventListener("wheel", (e) => {
  if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY)) return; // scrolls the page
  e.preventDefault();
  const around = view.from + (place(e) - gutter) / (width - gutter) * (view.to - view.from);
  if (e.ctrlKey) zoom(Math.exp(e.deltaY / 300), around); else pan((e.deltaX || e.deltaY) / 1500);
}, { passive: false });

for (const button of document.querySelectorAll("[data-zoom]")) {
  const act = { in: keys["+"], out: keys["-"], fit: keys[0] }[button.dataset.zoom];
  button.addEventListener("click", act);
}
for (const button of document.querySelectorAll("button[data-item]")) {
  const item = byIndex.get(Number(button.dataset.item));
  button.addEventListener("click", () => { select(item, true); stage.scrollIntoView({ block: "nearest" }); });
}

// The overview of what is not drawn one by one.

function drawOverview() {
  const panel = document.getElementById("overview"), o = data.overview;
  panel.hidden = !o;
  if (!o) return;
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg"), height = 54;
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", "Operations over the whole history, by outcome");
  svg(root, "text", { class: "name", x: 10, y: 20 }, "overview");
  svg(root, "text", { class: "soft", x: 10, y: 36 }, "all operations");
  const most = Math.max(1, ...o.counts.map((c) => c[0] + c[1] + c[2])), w = (width - gutter) / o.counts.length;
  o.counts.forEach((c, i) => {
    let y = height - 8;
    ["ok", "fail", "info"].forEach((name, k) => {
      const h = c[k] ? Math.max(1, c[k] / most * (height - 14)) : 0;
      y -= h;
      if (h) svg(root, "rect", { class: "density " + name, x: gutter + i * w, y, width: Math.max(1, w - 1), height: h });
    });
  });
  const at = (t) => gutter + (t - o.from) / (o.to - o.from + 1) * (width - gutter);
  for (const [from, to] of o.drawn) svg(root, "rect", { class: "shown", x: at(from), y: height - 6, width: Math.max(3, at(to) - at(from)), height: 5 });
  panel.replaceChildren(root);
}

// Begin.

if (data.partitions?.length) for (const e of document.querySelectorAll(".inner")) e.hidden = false;
if (data.partitions?.length > 1) {
  const label = document.getElementById("choice"), choice = label.querySelector("select");
  label.hidden = false;
  data.partitions.forEach((p, i) => html(choice, "option", "", p.name).value = i);
  choice.value = partition;
  choice.addEventListener("change", () => { partition = Number(choice.value); draw(); showReplicas(); });
}
if (items.length > 80 && data.proof.length) {
  const proofs = data.proof.map((i) => byIndex.get(i)).filter(Boolean);
  const from = Math.min(...proofs.map((p) => between(knots.times, knots.places, p.t)));
  const to = Math.max(...proofs.map((p) => between(knots.times, knots.places, p.end)));
  if (to - from < length / 3) look(from - 6, to + 6);
}
new ResizeObserver(schedule).observe(stage);
draw();
select(byIndex.get(data.proof[0]), false);
if (!selected) { showDetails(); showReplicas(); }
document.documentElement.dataset.ready = performance.now().toFixed(0);
})();
