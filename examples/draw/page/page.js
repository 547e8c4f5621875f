// What happens in the tab: read the round and the model, check the promise, compute the gradient of the
// drawing, make a report of it and send that.
import { Client, HushgradError, load } from "./sdk/index.js";
import { Drawing } from "./drawing.js";
import { classes, gradient, probabilities, weights } from "./softmax.js";

const $ = (id) => document.getElementById(id);
const say = (id, text) => ($(id).textContent = text);
let params = null;
let participant = null;
let busy = false;

const drawing = new Drawing($("canvas"), look);
for (let c = 0; c < classes; c++) $("label").add(new Option(String(c), String(c)));

/** Shows what the model says of the drawing. */
function look() {
  const picture = drawing.picture();
  if (!picture || !params) {
    say("guess", "Draw something.");
  } else {
    const p = probabilities(params, picture);
    const best = p.indexOf(Math.max(...p));
    say("guess", `The model sees a ${best}: ${Math.round(100 * p[best])} %.`);
    $("label").value = String(best);
  }
  $("send").disabled = busy || !participant || !picture;
}

/** Asks for the round again, under the visitor's policy. */
async function join(client) {
  participant = null;
  client.policy = { maxEpsilon: Number($("limit").value) };
  try {
    participant = await client.join();
    say("promise", participant.guarantee);
  } catch (error) {
    say("promise", error instanceof HushgradError && error.kind === "policy" ? `Refused by your policy: ${error.param} is ${error.got}, and ${error.rule}. No report can be sent.` : String(error.message));
  }
  look();
}

async function send(client) {
  const report = participant.encode(gradient(params, drawing.picture(), Number($("label").value)));
  busy = true;
  look();
  try {
    const { accepted } = await client.submit(participant);
    say("sent", accepted === 1 ? `Sent: a report of ${report.length} bytes. The drawing is still only here.` : "The server had this report already.");
  } catch (error) {
    say("sent", `Not sent: ${error.message}`);
  }
  busy = false;
  await join(client); // for another report, which costs again
}

async function main() {
  await load();
  const { server } = await (await fetch("settings.json")).json();
  const client = new Client(server, { policy: { maxEpsilon: 0 } });
  params = weights((await client.model()).data);
  await join(client);
  $("limit").addEventListener("change", () => join(client));
  $("send").addEventListener("click", () => send(client));
  document.body.dataset.ready = "yes";
}

$("clear").addEventListener("click", () => drawing.clear());
$("example").addEventListener("click", () => {
  drawing.clear();
  drawing.line([[75, 70], [200, 70], [125, 220]]);
  drawing.changed();
});
main().catch((error) => say("promise", `The page does not work: ${error.message}`));
