// Plans runs beside the page, so that the page never waits. cost.js starts it, and ends it where the
// answer is not wanted any more.
import { above, load } from "./cost/index.js";

const loaded = load(new URL("cost/planner.wasm.gz", import.meta.url));

onmessage = async ({ data: { request, trusts } }) => {
  try {
    await loaded;
    for (const Trust of trusts) {
      const { row, error } = planTrust(JSON.stringify({ ...request, Trust }), (done, all) => postMessage({ trust: Trust, done, all }));
      if (error) throw new Error(error);
      const plan = JSON.parse(row);
      const epsilons = [plan.epsilon, plan.epsilon_against_everybody, plan.epsilon_of_report_against_everybody];
      postMessage({ trust: Trust, plan, epsilons: epsilons.map((e) => (e === null ? null : above(e))) });
    }
    postMessage({ ended: true });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
