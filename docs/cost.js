// The controls of the page "What does ε cost me?". The answers are the planner's, which cost-worker.js runs: it is
// loaded when a control is moved for the first time. Without it the page shows what the command prints.

const demo = { weights: 1970, classes: 10, rounds: 30 };

const models = {
  digits: `digits, as the demo learns them: ${demo.weights} weights`,
  own: "a model of mine: d weights",
};

/** Round numbers between two powers of ten. */
function numbers(from, to, mantissas) {
  const all = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++) {
    all.push(...mantissas.map((m) => Number(`${m}e${power}`)));
  }
  return all.filter((x) => x >= from && x <= to);
}

const sliders = {
  clients: { label: "n, the number of clients", values: numbers(100, 1e6, [1, 2, 3, 4, 6, 8]), first: 60000 },
  budget: { label: "ε, for all that a client ever sends", values: numbers(0.1, 8, [1, 1.5, 2, 3, 4, 6, 8]), first: 1 },
  dim: { label: "d, the number of weights", values: numbers(10, 1e6, [1, 2, 5]), first: 1000 },
};

const trusts = {
  nobody: {
    label: "nobody", against: "against everybody, the server included",
    learns: "The server learns each client's report, and whose it is. It learns the client's gradient no better than this ε allows. Nobody has to be trusted.",
  },
  shuffler: {
    label: "a shuffler", against: "against a party that sees nothing but shuffled reports",
    learns: "The server learns the reports of a round, and not whose they are. The shuffler learns who takes part, and reads no report. Server and shuffler together learn whose each report is: then the ε against everybody holds alone.",
  },
  "two-servers": {
    label: "two servers", against: "against either server alone, whatever that server does",
    learns: "Each server learns a share of each gradient, which is random, and the sum with noise. The two servers together read every gradient: no ε holds against both.",
  },
  server: {
    label: "a trusted server", against: "against everybody but the server",
    learns: "The server reads every gradient. Everybody else learns the means with noise. This trust is here to compare with: hushgrad plans no run for it.",
  },
};

// Gradients have the L2 norm 1, and weights that are alike: as of normally distributed ones.
const l1Of = (dim) => Number((Math.sqrt((2 * dim) / Math.PI)).toPrecision(3));

const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("cost.css", import.meta.url) });
document.head.append(style);
await new Promise((resolve) => (style.onload = style.onerror = resolve));
const box = document.getElementById("cost");
box.innerHTML = `<form>
  <fieldset><legend>What is learned</legend>${Object.entries(models).map(([name, label]) => `
    <label><input type="radio" name="model" value="${name}"${name === "digits" ? " checked" : ""}> ${label}</label>`).join("")}
  </fieldset>${Object.entries(sliders).map(([name, { label, values, first }]) => `
  <div><label for="cost-${name}"><span>${label}</span> <output for="cost-${name}"></output></label>
  <input type="range" id="cost-${name}" name="${name}" min="0" max="${values.length - 1}" value="${values.indexOf(first)}"></div>`).join("")}
  <fieldset><legend>The clients trust</legend>${Object.entries(trusts).map(([name, { label }]) => `
    <label><input type="radio" name="trust" value="${name}"${name === "shuffler" ? " checked" : ""}> ${label}</label>`).join("")}
  </fieldset></form>
  <p class="state" role="status">Move a control: the planner is loaded then, about 5 MB. It runs in this tab, and sends nothing.</p>
  <progress aria-label="Planning"></progress>
  <div class="answer" hidden><dl></dl>
    <table><caption></caption><thead></thead><tbody></tbody></table>
    <p>The command that prints these numbers, with <code>-o json</code> all digits:<br><code class="command"></code></p></div>`;

const part = (selector) => box.querySelector(selector);
const form = part("form");
const known = new Map(); // what the planner has said, by question and trust
let worker; // undefined before the first question
let timer;

/** What the controls say. */
function question() {
  const { dim, ...request } = positions();
  const of = form.elements.model.value === "digits" ? { digits: true, rounds: demo.rounds, quick: true } : { dim, l1: l1Of(dim), l2: 1 };
  return { ...request, ...of, delta: 1e-6 };
}

/** Where the sliders are. */
function positions() {
  return Object.fromEntries(Object.entries(sliders).map(([name, { values }]) => [name, values[form.elements[name].value]]));
}

/** The command that answers a question. */
function commandOf({ digits, rounds, clients, dim, l1, l2, budget }) {
  const of = digits ? `--features edges-centred --rounds ${rounds} --quick` : `--dim ${dim} --l1 ${l1} --l2 ${l2}`;
  return `hushgrad account plan ${of} --trust server --clients ${clients} --budget ${budget}`;
}

const spoken = (x) => x.toLocaleString("en");

function showControls() {
  const now = positions();
  form.elements.dim.parentElement.hidden = form.elements.model.value === "digits";
  for (const name of Object.keys(sliders)) {
    const input = form.elements[name];
    input.setAttribute("aria-valuetext", spoken(now[name]));
    part(`output[for="cost-${name}"]`).textContent = spoken(now[name]);
  }
}

const rounded = (x) => x.toLocaleString("en", { maximumSignificantDigits: 3 });

/** A number with three digits. Its value has all of them. */
function number(x, text = rounded(x)) {
  return `<data value="${x}">${text}</data>`;
}

const times = (x) => `${number(x)} times the length of a gradient`;
const bytes = (x) => `${number(x)} ${x === 1 ? "byte" : "bytes"}`;

/** An accuracy with the error of a single run, as the command prints them. */
function accuracy({ accuracy, error }) {
  return `${number(accuracy, accuracy.toFixed(3))} ± ${number(error, (Math.ceil(1000 * error) / 1000).toFixed(3))}`;
}

function expected(e) {
  if (!e) return "It depends on your data, which neither this page nor <code>hushgrad account plan --dim</code> knows. A program of yours has a run rehearsed on public examples of yours: <code>plan.NewExamples</code>";
  const beside = `Without privacy as many rounds reach ${number(e.without_privacy, e.without_privacy.toFixed(3))}, and guessing reaches ${number(1 / demo.classes)}`;
  return `${accuracy(e)}: a single run is within this 95 times in 100. ${beside}. It is rehearsed on ${e.on}. On other pictures it is another number`;
}

function details({ plan, epsilons: [total, everybody, report] }, { dim = demo.weights }) {
  const { against, learns } = trusts[plan.trust];
  const perWeight = plan.error_of_run / Math.sqrt(dim);
  const delta = plan.delta > 0 ? `, with δ = ${plan.delta}` : ", with δ = 0";
  const said = [
    ["Accuracy to expect", expected(plan.expected_accuracy)],
    ["Noise of the mean, all rounds together", times(plan.error_of_run) + (plan.error_of_run > 1 && !plan.expected_accuracy ? ". It hides any signal: take more clients, a larger ε, fewer weights, or another trust" : "")],
    ["Noise of one round's mean", times(plan.error_of_round)],
    ["Noise of one weight, all rounds together", `${number(perWeight)}. A gradient of length 1 has ${number(1 / Math.sqrt(dim))} in an average weight`],
    ["A client sends", `${plan.reports === 1 ? `one report of ${bytes(plan.bytes)}` : `${number(plan.reports)} reports of ${bytes(plan.bytes / plan.reports)}, ${bytes(plan.bytes)} together`}, by ${plan.mechanism}`],
    ["ε of one report, against everybody", report === null ? "none" : number(plan.epsilon_of_report_against_everybody, report)],
    ...(plan.trust === "nobody" ? [] : [["ε of all reports, against everybody", everybody === null ? "none" : number(plan.epsilon_against_everybody, everybody)]]),
    [`ε of all reports, ${against}`, number(plan.epsilon, total) + delta],
    ["Who learns what", learns],
  ];
  return said.map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join("");
}

/** Shows what is known of a question. */
function showAnswer(asked) {
  const key = JSON.stringify(asked);
  const answers = Object.fromEntries(Object.keys(trusts).map((trust) => [trust, known.get(key + trust)]));
  const trust = form.elements.trust.value;
  const whole = answers[trust];
  if (whole) part("dl").innerHTML = whole.plan.mechanism ? details(whole, asked) : `<dt>This trust does not serve here</dt><dd>${whole.plan.why}</dd>`;
  part("caption").textContent = `The same ε for each trust.${asked.digits ? " Accuracy is expected on generated pictures." : ""} Noise is of the whole run, over the length of a gradient. Bytes behind a shuffler are of bare reports: the seal and its tokens add some 760 to each.`;
  part("thead").innerHTML = `<tr>${["trust", ...(asked.digits ? ["accuracy"] : []), "noise", "bytes sent", "ε against everybody"].map((c) => `<th scope="col">${c}</th>`).join("")}</tr>`;
  part("tbody").innerHTML = Object.entries(trusts).map(([name, { label }]) => {
    const { plan, epsilons } = answers[name] ?? {};
    const cells = plan?.mechanism
      ? [...(asked.digits ? [accuracy(plan.expected_accuracy)] : []), number(plan.error_of_run), number(plan.bytes), epsilons[1] === null ? "none" : number(plan.epsilon_against_everybody, epsilons[1])]
      : Array(asked.digits ? 4 : 3).fill(plan ? "–" : "…");
    return `<tr data-trust="${name}"${name === trust ? ' aria-current="true"' : ""}><th scope="row">${label}</th>${cells.map((c) => `<td>${c}</td>`).join("")}</tr>`;
  }).join("");
  part(".command").textContent = commandOf(asked);
  part("dl").classList.toggle("stale", !whole);
  if (whole) show(true);
}

/** Shows the planner's answer, or what the command prints. */
function show(answer) {
  part(".answer").hidden = !answer;
  document.getElementById("cost-static").hidden = answer;
}

function say(text, waits) {
  box.setAttribute("aria-busy", String(waits));
  part(".state").textContent = text;
  if (waits) part("progress").removeAttribute("value");
}

/** Says the answer to those who do not see it. */
function planned(asked) {
  const { plan } = known.get(JSON.stringify(asked) + form.elements.trust.value);
  const e = plan.expected_accuracy;
  if (!plan.mechanism) say("Planned.", false);
  else if (e) say(`Planned: the accuracy to expect is ${e.accuracy.toFixed(3)}, on ${e.on}.`, false);
  else say(`Planned: noise is ${rounded(plan.error_of_run)} times the length of a gradient.`, false);
}

function stop() {
  worker?.terminate();
  worker = undefined;
}

function failed(why) {
  stop();
  say(`The planner does not run in this browser: ${why}. Type the command below in a terminal, with numbers of yours.`, false);
  show(false);
}

/** Asks the planner for what is not known, the chosen trust first. */
function ask() {
  timer = undefined;
  const asked = question();
  const key = JSON.stringify(asked);
  const chosen = form.elements.trust.value;
  const missing = [chosen, "nobody", "server", "two-servers", "shuffler"].filter((trust, i, all) => all.indexOf(trust) === i && !known.has(key + trust));
  showAnswer(asked);
  if (missing.length === 0) return planned(asked);
  say(worker ? "Planning…" : "Loading the planner, then planning…", true);
  try {
    worker ??= new Worker(new URL("cost-worker.js", import.meta.url), { type: "module" });
  } catch (error) {
    return failed(error.message);
  }
  worker.onerror = (event) => failed(event.message ?? "the worker is not loaded");
  worker.onmessage = ({ data }) => {
    if (data.error) return failed(data.error);
    if (data.ended) return planned(asked);
    if (data.plan) {
      known.set(key + data.trust, data);
      return showAnswer(asked);
    }
    part(".state").textContent = `${asked.digits ? "Planning and rehearsing" : "Planning"}: ${trusts[data.trust].label}…`;
    part("progress").value = data.done / data.all;
  };
  worker.postMessage({ request: asked, trusts: missing });
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => {
  if (timer === undefined && box.getAttribute("aria-busy") === "true") stop(); // what it plans is not wanted any more
  showControls();
  say("Planning…", true);
  clearTimeout(timer);
  timer = setTimeout(ask, 300);
});
showControls();
