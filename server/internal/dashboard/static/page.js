// The page follows /events and shows each state. All text is set as text, never as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en");
const when = (time) => new Date(time).toLocaleString();

// node makes an element with attributes and children.
function node(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== undefined) e.setAttribute(name, value);
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
}

// keyed makes the children of an element from the items. One whose text is the same stays, with
// the focus and the open details that it has.
function keyed(parent, items, key, make, none) {
  const old = new Map([...parent.children].map((c) => [c.dataset.key, c]));
  const wanted = items.map((item) => {
    const name = key(item), text = JSON.stringify(item), kept = old.get(name);
    if (kept && kept.dataset.text === text) return kept;
    const made = make(item);
    made.dataset.key = name;
    made.dataset.text = text;
    const details = made.querySelector("details"), was = kept && kept.querySelector("details");
    if (details && was) details.open = was.open;
    return made;
  });
  if (!wanted.length && none) wanted.push(old.get("none") || Object.assign(none(), {}));
  if (!items.length && none) wanted[0].dataset.key = "none";
  wanted.forEach((e, i) => { if (parent.children[i] !== e) parent.insertBefore(e, parent.children[i] || null); });
  while (parent.children.length > wanted.length) parent.lastChild.remove();
}

const nothing = (text) => () => node("p", {}, text);
const emptyRow = (columns, text) => () => node("tr", {}, node("td", { colspan: columns }, text));

// promise shows what is promised, in words.
function promise(p) {
  const words = node("dl");
  for (const w of p.words) words.append(node("dt", {}, w.about), ...w.text.map((t) => node("dd", {}, t)));
  const notes = node("ul");
  for (const n of p.notes) notes.append(node("li", {}, n));
  return [node("div", { class: "words" }, words, p.notes.length ? notes : undefined)];
}

function figure(name, value, more) {
  return node("div", {}, node("dt", {}, name), node("dd", {}, value, more ? node("small", {}, more) : undefined));
}

function figures(s) {
  const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const list = (counts) => Object.entries(counts).filter(([, n]) => n).map(([reason, n]) => `${reason} ${count(n)}`).join(", ");
  const open = s.rounds.filter((r) => !r.ended), least = s.public ? "at least" : "";
  const newest = s.models[s.models.length - 1], rate = s.rates[s.rates.length - 1];
  const rows = [
    ["Server", s.ready ? "ready" : "not ready", s.problem || `since ${when(s.started)}`],
    ["Open rounds", count(open.length), `${count(s.together.rounds)} in all`],
    ["Reports counted", count(s.totals.accepted), least],
    ["Sent again", count(s.totals.duplicates), "counted once"],
    ["Refused messages", count(sum(s.totals.refused)), list(s.totals.refused)],
    ["Rejected sealed reports", count(sum(s.totals.rejected)), list(s.totals.rejected)],
    ["Model", newest ? `version ${newest.version}` : "none", newest && newest.format],
    ["Connections", count(s.connections.clients + s.connections.operator + s.connections.shuffler), `clients ${s.connections.clients}, operator ${s.connections.operator}, shuffler ${s.connections.shuffler}`],
  ];
  if (!s.public) rows.splice(3, 0, ["Reports per second", rate ? number(rate.reports_per_second) : "0", rate ? `at ${new Date(rate.time).toLocaleTimeString()}` : ""]);
  keyed($("figures"), rows, (r) => r[0], (r) => figure(...r));
}

function openRound(r) {
  const goal = r.target_reports || r.min_reports, bar = node("progress", { max: goal, value: Math.min(r.reports, goal), "aria-label": `Reports of round ${r.id}` });
  const facts = [`${r.mechanism}, ${count(r.dim)} coordinates`, `minimum ${count(r.min_reports)}${r.reports >= r.min_reports ? " reached" : ""}`,
    r.target_reports ? `target ${count(r.target_reports)}` : "no target", `opened ${when(r.opened)}`, r.deadline ? `deadline ${when(r.deadline)}` : undefined,
    r.shuffler ? `shuffler ${r.shuffler}` : "no shuffler", r.tokens ? "with tokens" : "without tokens"].filter(Boolean).join(" · ");
  return node("article", { class: "card promise" }, node("h3", {}, `${r.id}${r.state === "closing" ? ", waits for its shuffler" : ""}`),
    node("p", {}, `${count(r.reports)} of ${count(goal)} reports${r.approximate ? ", rounded down" : ""}`), bar, node("p", { class: "facts" }, facts),
    ...(r.promise ? promise(r.promise) : [node("p", {}, "What the round promises is being computed.")]));
}

function pastRound(r) {
  const short = !r.promise ? "being computed" : [r.promise.local ? `local ε ${r.promise.local.epsilon}` : "no local privacy",
    r.promise.central ? `central ε ${r.promise.central.epsilon}${r.promise.central.against ? ` ${r.promise.central.against}` : ""}${r.shuffler ? "" : ", not against this server"}` : ""].filter(Boolean).join("; ");
  const words = r.promise ? node("details", {}, node("summary", {}, short), ...promise(r.promise)) : short;
  return node("tr", {}, node("th", { scope: "row" }, r.id), node("td", {}, r.state), node("td", {}, r.mechanism), node("td", { class: "n" }, count(r.reports)),
    node("td", { class: "n" }, count(r.min_reports)), node("td", { class: "n" }, r.reports_per_second === undefined ? "–" : number(r.reports_per_second)),
    node("td", { class: "n" }, ...signal(r)), node("td", {}, when(r.ended)), node("td", { class: "promise" }, words));
}

function signal(r) {
  if (!r.worth) return ["–"];
  return [number(r.worth.signal_to_noise), r.worth.below_noise ? node("span", { class: "below" }, " below noise") : undefined,
    r.worth.suspects ? node("span", { class: "alarm" }, ` alarm: clients lie at ${coordinates(r.worth.suspects)}`) : undefined];
}

function coordinates(n) {
  return n === 1 ? "1 coordinate" : `${count(n)} coordinates`;
}

// together shows what all rounds promise. A training run that publishes how many reports a client has, at most, has that said
// first, and what more reports would promise can be unfolded. It returns whether a run does.
function together(t, rounds) {
  const text = [], few = t.fewer, planned = few && few.planned;
  const local = few && `local ε = ${few.local.epsilon}${few.local.delta === "0" ? "" : `, δ = ${few.local.delta}`}`;
  if (planned) text.push(node("p", {}, node("strong", {}, `A client of this run reports ${few.reports === 1 ? "once" : `${count(few.reports)} times`} at most: ${local}.`), " So the training run says. The server does not count a client's reports."));
  else if (few) text.push(node("p", {}, `A client that reported in one round, and in no other, has ${local} at most.`));
  if (t.promise) {
    text.push(node("p", {}, `What follows is for a client that reported once in ${t.composed === 1 ? "the first round" : `each of the first ${count(t.composed)} rounds`}.${t.composed < t.rounds ? ` There were ${count(t.rounds)}; the rest is being computed.` : ""}`), ...promise(t.promise));
  } else {
    text.push(node("p", {}, t.unknown ? `Not stated: ${t.unknown}.` : "Being computed."));
  }
  $("together-title").textContent = planned ? "What is promised to a client" : "A client that took part in every round";
  if (planned) text.push(node("details", rounds.some((r) => r.shuffler) ? { open: "" } : {}, node("summary", {}, "If a client had reported in every round"), ...text.splice(1)));
  keyed($("together"), [t], () => "t", () => node("div", {}, ...text));
  return planned;
}

// chart shows a figure: a chart and, beside it, its table. data = { name, first, unit, column, x, y, errs, time,
// labels, lines }: name is the title, first and unit are the titles of the axes, first and column are the titles of the table, and
// lines = [{ name, value }] are what to compare with.
function chart(parent, data) {
  let card = [...parent.children].find((c) => c.dataset.key === data.name);
  if (!card) {
    const id = `chart-${parent.id}-${[...parent.children].length}-${Date.now()}`;
    card = node("article", { class: "card", "data-key": data.name }, node("h3", { id }, data.name), node("div", { class: "chart" },
      node("div", { class: "plot", role: "img" }),
      node("p", { class: "hint lines" }),
      node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${data.name}` }, node("table", {},
        node("caption", {}, `${data.name}, the newest first`),
        node("thead", {}, node("tr", {}, node("th", { scope: "col" }, data.first), node("th", { scope: "col", class: "n" }, data.column), data.errs ? node("th", { scope: "col", class: "n" }, "Std. error") : undefined)),
        node("tbody")))));
    parent.append(card);
  }
  const text = JSON.stringify(data);
  if (card.dataset.text === text) return card;
  card.dataset.text = text;
  const last = data.y.length - 1, plot = card.querySelector(".plot");
  const lines = (data.lines || []).map((l) => `${l.name} = ${number(l.value)}`).join(", ");
  card.querySelector(".lines").textContent = lines && `Dashed: ${lines}.`;
  plot.setAttribute("aria-label", `Chart of ${data.name}: ${data.y.length} points${last >= 0 ? `, the newest is ${number(data.y[last])} at ${data.labels[last]}` : ""}. The table has the numbers.`);
  drawChart(plot, data);
  const rows = data.y.map((y, i) => [data.labels[i], number(y), data.errs ? (data.errs[i] ? number(data.errs[i]) : "–") : undefined]).reverse();
  keyed(card.querySelector("tbody"), rows, (r) => r[0], (r) => node("tr", {}, node("th", { scope: "row" }, r[0]), ...r.slice(1).filter((v) => v !== undefined).map((v) => node("td", { class: "n" }, v))));
  return card;
}

// drawn shows charts in their order and removes those that are gone.
function drawn(parent, all, none) {
  if (parent.firstElementChild && parent.firstElementChild.tagName === "P") parent.firstElementChild.remove();
  const cards = all.map((data) => chart(parent, data));
  for (const c of [...parent.children]) {
    if (cards.includes(c)) continue;
    const held = charts.get(c.querySelector(".plot"));
    if (held) held.stop();
    c.remove();
  }
  cards.forEach((c, i) => { if (parent.children[i] !== c) parent.insertBefore(c, parent.children[i]); });
  if (!cards.length) parent.append(node("p", {}, none));
}

function show(s) {
  const warnings = [];
  if (s.public) warnings.push("This page is not limited to this machine: whoever reaches its address reads it. Counts of open rounds and totals are rounded down.");
  if (s.void) warnings.push(`Nothing is promised: ${s.void}.`);
  if (!s.ready) warnings.push(`The server is not ready${s.problem ? `: ${s.problem}` : ""}.`);
  keyed($("warnings"), warnings, (w) => w, (w) => node("p", { class: "warning" }, w));
  figures(s);
  const open = s.rounds.filter((r) => !r.ended).reverse().map((r) => ({ ...r, approximate: s.public }));
  const past = s.rounds.filter((r) => r.ended).reverse();
  keyed($("open"), open, (r) => r.id, openRound, nothing("No round is open."));
  const planned = together(s.together, s.rounds);
  keyed($("past"), past, (r) => r.id, pastRound, emptyRow(9, "No round has ended."));
  $("cluster").hidden = !s.shards.length;
  keyed($("shards"), s.shards, (p) => String(p.number), (p) => node("tr", {}, node("th", { scope: "row", class: "n" }, String(p.number)), node("td", { class: "n" }, count(p.reports)),
    node("td", { class: "n" }, count(p.rejected)), node("td", { class: "n" }, count(p.waiting)), node("td", {}, p.snapshot ? when(p.snapshot) : "none yet"), node("td", {}, p.holder)));
  keyed($("models"), [...s.models].reverse(), (m) => String(m.version), (m) => node("tr", {}, node("th", { scope: "row", class: "n" }, String(m.version)), node("td", {}, m.format),
    node("td", { class: "n" }, count(m.bytes)), node("td", {}, m.published ? when(m.published) : "before the start")), emptyRow(4, "No model was published."));
  const [training, noise] = ofInterest(s.series);
  drawn($("training"), training, "The training run has published nothing.");
  const forgotten = s.together.rounds - s.rounds.length;
  $("spent").hidden = $("spent-hint").hidden = $("together-hint").hidden = Boolean(planned); // a curve of what no client spends
  const spent = planned ? [] : s.rounds.map((r, i) => ({ number: forgotten + i + 1, spent: r.spent })).filter((r) => r.spent);
  drawn($("spent"), spent.length ? [{ name: "Local ε spent", first: "Round", unit: "Sum of local ε", column: "Local ε", x: spent.map((r) => r.number), y: spent.map((r) => Number(r.spent.epsilon)), labels: spent.map((r) => String(r.number)) }] : [], "There is no local ε that adds up.");
  drawn($("flow"), s.rates.length ? [{ name: "Reports per second", first: "Time", unit: "Reports per second", column: "Reports/s", time: true, x: s.rates.map((r) => Date.parse(r.time) / 1000), y: s.rates.map((r) => r.reports_per_second), labels: s.rates.map((r) => new Date(r.time).toLocaleTimeString()) }] : [],
    s.public ? "How fast reports come is not shown on a page that others can read." : "No report has come while this page's server was watching.");
  const worth = s.rounds.map((r, i) => ({ number: forgotten + i + 1, ...r })).filter((r) => r.worth), last = worth[worth.length - 1];
  $("signal-last").textContent = last ? `The newest estimate, of ${last.id}, is ${last.worth.below_noise ? "below noise: its error is larger than itself" : `above noise: ${number(last.worth.signal_to_noise)} times its error`}.${last.worth.suspects ? ` Alarm: more of its reports agree at ${coordinates(last.worth.suspects)} than honest clients send. A false alarm has a probability of at most 1 in a million.` : ""}` : "";
  const ratios = worth.length ? [{ name: "Signal to noise", first: "Round", unit: "Estimate ÷ its error", column: "Ratio", lines: [{ name: "as large as its error", value: 1 }], x: worth.map((r) => r.number), y: worth.map((r) => r.worth.signal_to_noise), labels: worth.map((r) => r.id) }] : [];
  drawn($("signal"), [...ratios, ...noise], "There is no estimate whose error is known.");
  announce(s);
}

// reportsOfAClient is a series that is no chart: see Together.
const reportsOfAClient = "reports of a client";

// ofInterest makes the charts of published series: those of the run's own series, and those of noise. Scores come first, losses and
// errors after them. What a series is follows from its name. One whose name is another's, a slash and some words is a line in the
// other's chart, at its newest value.
function ofInterest(series) {
  const names = new Set(series.map((one) => one.name)), at = (one) => one.name.lastIndexOf("/");
  const isLine = (one) => names.has(one.name.slice(0, Math.max(0, at(one))));
  const lines = (of) => series.filter((one) => isLine(one) && one.name.slice(0, at(one)) === of.name).map((one) => ({ name: one.name.slice(at(one) + 1), value: one.points[one.points.length - 1].value }));
  const charted = series.filter((one) => !isLine(one) && one.name !== reportsOfAClient), made = (all) => all.map((one) => published(one, lines(one)));
  const first = [/accuracy|score|auc|r²|r2/i, /loss|error/i];
  const rank = (one) => { const place = first.findIndex((words) => words.test(one.name)); return place < 0 ? first.length : place; };
  const noise = (one) => /noise/i.test(one.name);
  return [made(charted.filter((one) => !noise(one)).sort((a, b) => rank(a) - rank(b))), made(charted.filter(noise))];
}

// published is the chart of a series, with lines to compare it with. Its unit is the operator's: the name says what is measured.
function published(one, lines) {
  return { name: one.name, lines, first: "Round", unit: one.name, column: "Value", x: one.points.map((p) => p.round), y: one.points.map((p) => p.value),
    errs: one.points.some((p) => p.std_err) ? one.points.map((p) => p.std_err) : null, labels: one.points.map((p) => String(p.round)) };
}

// announce says what has changed, for those who listen to the page. At first it says what was last.
let before = null, spoken = 0, unspoken = "";
function announce(s) {
  if (!before) unspoken = newest(s);
  else {
    const was = new Map(before.rounds.map((r) => [r.id, r]));
    for (const r of s.rounds) {
      const old = was.get(r.id);
      if (!old && !r.ended || r.ended && (!old || !old.ended)) unspoken = news(r);
    }
    if (before.ready !== s.ready) unspoken = s.ready ? "The server is ready again." : "The server is not ready.";
  }
  before = s;
  if (unspoken && Date.now() - spoken > 3000) { // not faster than it can be read out
    $("news").textContent = unspoken;
    spoken = Date.now();
    unspoken = "";
  }
}

function news(r) {
  return r.ended ? `Round ${r.id} has ended: ${r.state}, ${count(r.reports)} reports${r.worth && r.worth.suspects ? `, alarm: clients lie at ${coordinates(r.worth.suspects)}` : ""}.` : `Round ${r.id} was opened.`;
}

// newest is the news of a page that has just been opened.
function newest(s) {
  if (!s.rounds.length) return s.together.rounds ? "All rounds have ended, and the server keeps none." : "No round was opened yet.";
  const time = (r) => Date.parse(r.ended || r.opened);
  return news(s.rounds.reduce((a, b) => (time(b) >= time(a) ? b : a)));
}
setInterval(() => before && announce(before), 1000);

function link(state, text) {
  if ($("link").textContent === text) return;
  $("link").dataset.state = state;
  $("link").textContent = text;
}

let latest = null, stopped = false;
function take(text) {
  const s = JSON.parse(text);
  if (s.version !== 1) { location.reload(); return; } // the server is a newer one
  latest = s.time;
  stopped = false;
  link("live", "Live");
  show(s);
}

function lost() {
  const as = latest ? `as of ${new Date(latest).toLocaleTimeString()}` : "";
  if (stopped) link("ended", `The server has ended: ${as}`);
  else link("lost", as ? `Connection lost: ${as}` : "No connection");
}

// poll asks for the state again and again, where there are too many streams.
async function poll() {
  try {
    const answer = await fetch("/state.json");
    if (answer.ok) take(await answer.text()); else lost();
  } catch { lost(); }
  setTimeout(poll, 5000);
}

link("waiting", "Connecting");
$("news").textContent = "Waiting for the server.";
const events = new EventSource("/events");
events.addEventListener("state", (e) => take(e.data));
events.addEventListener("end", () => { stopped = true; lost(); });
events.addEventListener("error", () => { lost(); if (events.readyState === EventSource.CLOSED) poll(); });
