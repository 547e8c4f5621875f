// hushgrad in a browser: one randomized report per round. The round's privacy is checked here, in the
// tab. Start with load, then Client for a server, or joinRound for a round that you have.

const key = Symbol.for("hushgrad");
let loading;

/** An error with the name of what is wrong (param), what it was (got) and the rule. */
export class HushgradError extends Error {
  constructor({ kind = "param", message, param = "", got = "", rule = "", cause }) {
    super(message ?? `${param}: got ${got}, rule: ${rule}`, cause && { cause });
    Object.assign(this, { name: "HushgradError", kind, param, got, rule });
  }
}

const invalid = (param, got, rule, kind = "param", cause) => new HushgradError({ kind, param, got: String(got), rule, cause });

/** Loads the program, once. */
export function load(source = new URL("hushgrad.wasm.gz", import.meta.url)) {
  loading ??= start(source).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start(source) {
  await import("./wasm_exec.js");
  const go = new globalThis.Go();
  go.run(await instanceOf(source, go.importObject));
}

/** Compiles the program. Node cannot fetch a file: there a caller reads it. */
async function instanceOf(source, imports) {
  let bytes = source;
  let got = "other bytes";
  try {
    if (!(source instanceof Uint8Array)) {
      got = source;
      const response = await fetch(source);
      if (!response.ok) throw new Error(`status ${response.status}`);
      bytes = new Uint8Array(await response.arrayBuffer());
    }
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
      const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      bytes = new Uint8Array(await new Response(plain).arrayBuffer());
    }
    return (await WebAssembly.instantiate(bytes, imports)).instance;
  } catch (error) {
    throw invalid("source", got, `must be the bytes of hushgrad.wasm.gz, or a URL from which fetch gets them: ${error.message}`, "param", error);
  }
}

function program() {
  const functions = globalThis[key];
  if (!functions) throw invalid("load", "not called", "must have ended: await load() first");
  return functions;
}

function call(op, args, payload = null, release = []) {
  const [header, out] = program().call(JSON.stringify({ op, args, release }), payload);
  const { answer, error } = JSON.parse(header);
  if (error) throw failure(error);
  return [answer, out];
}

/** An error of the program. Names are as they are here: max_epsilon there is maxEpsilon. */
function failure({ param = "", message, ...rest }) {
  const name = param.replace(/_([a-z])/g, (_, c) => c.toUpperCase());
  return new HushgradError({ ...rest, param: name, message: message.replace(param, name) });
}

/** A policy with the program's names. JSON would make null of NaN, and no demand of null. */
function snake(value, path = "policy") {
  if (value === Infinity) return "inf";
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) throw invalid(path, value, "must be a number, or be left out");
  if (typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, v]) => [name.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), snake(v, `${path}.${name}`)]));
}

/** Joins a round under a policy, which the round has to meet. Nothing is sent. */
export function joinRound(round, policy) {
  if (typeof policy !== "object" || policy === null) throw invalid("policy", policy, "must say at least maxEpsilon");
  let bytes = round;
  if (!(round instanceof Uint8Array)) {
    bytes = program().canonical(typeof round === "string" ? round : JSON.stringify(round));
    if (!(bytes instanceof Uint8Array)) throw failure(bytes);
  }
  const [answer] = call("round.open", { policy: snake(policy), max_dim: 0, tokens: true }, bytes);
  return new Participant(answer);
}

const number = (x) => (x === "inf" ? Infinity : x);

/** A number as text with 4 digits, rounded up. */
export function above(x) {
  if (x === 0 || !Number.isFinite(x)) return x === 0 ? "0" : "∞";
  let text = x.toPrecision(4);
  if (Number(text) < x) text = (Number(text) + 10 ** (Math.floor(Math.log10(x)) - 3)).toPrecision(4);
  return String(Number(text));
}

function guaranteeOf(g) {
  return { trust: g.trust, epsilon: number(g.epsilon), delta: number(g.delta), relation: g.relation, realNumbers: g.real_numbers };
}

const against = {
  local: "against everybody, the server included",
  shuffle: "against a party that sees only what the shuffler forwards. It does not hold against the shuffler and the server together",
  "two-servers": "against one passive server. It does not hold against a server that makes up reports, nor against both servers together",
};

function words(g, extra = "") {
  if (g.trust === "none") return "There is no privacy: whoever reads the report learns about your data.";
  const real = g.realNumbers ? " The proof is for real numbers only: the code does not keep it." : "";
  const delta = g.delta > 0 ? ` and δ = ${above(g.delta)}` : "";
  return `One report costs ε = ${above(g.epsilon)}${delta}, ${against[g.trust]}${extra}.${real} Reports of several rounds add up.`;
}

/** What this tab does in one round: it makes one report. */
export class Participant {
  #handle;
  #report;
  #batchKey;
  #requests;
  #tokens;

  constructor(answer) {
    this.#handle = answer.round;
    this.#requests = answer.token_requests ?? [];
    this.asksForToken = this.#requests.length > 0;
    this.#batchKey = answer.sealed || this.asksForToken ? new Uint8Array() : crypto.getRandomValues(new Uint8Array(16));
    this.id = answer.id;
    this.mechanism = answer.mechanism;
    this.dim = answer.dim;
    this.shuffler = answer.shuffler;
    this.sealed = answer.sealed;
    this.features = answer.features;
    this.digest = Uint8Array.from(answer.digest.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    this.reportBytes = answer.report_bytes;
    this.cost = guaranteeOf(answer.guarantee);
    this.central = answer.central ? guaranteeOf(answer.central) : null;
    this.guarantee = words(this.cost);
    if (this.central) {
      this.guarantee += ` Together with the reports of ${answer.min_reports - 1} other honest clients: ${words(this.central)}`;
    }
  }

  /** What IssueToken of the issuer takes, as objects for JSON: one, or two in a round with a shuffler. They are the same each time. */
  tokenRequests() {
    if (!this.asksForToken) throw invalid("round", this.id, "must ask for tokens");
    return this.#requests.map((r) => ({ tokenKeyId: r.token_key_id, blindedMessage: r.blinded_message }));
  }

  /** Whether the tokens are there. */
  get hasToken() {
    return this.#tokens !== undefined;
  }

  /** Makes the tokens of the issuer's answers, in the order of the requests, and checks them. */
  takeTokens(blindSignatures) {
    for (const s of blindSignatures) {
      if (!(s instanceof Uint8Array)) throw invalid("blindSignatures", s?.constructor?.name ?? s, "must be Uint8Arrays");
    }
    if (this.hasToken) throw invalid("token", "a second one", "must come once");
    const all = new Uint8Array(blindSignatures.reduce((n, s) => n + s.length, 0));
    blindSignatures.reduce((at, s) => (all.set(s, at), at + s.length), 0);
    [, this.#tokens] = call("token", { round: this.#handle }, all);
  }

  /** Makes the report of a gradient: sealed, in a round with a shuffler. There is one for a participant. */
  encode(gradient) {
    const type = gradient instanceof Float32Array ? "f4" : gradient instanceof Float64Array ? "f8" : null;
    if (!type) throw invalid("gradient", gradient?.constructor?.name ?? gradient, "must be a Float32Array or a Float64Array");
    if (gradient.length !== this.dim) throw invalid("gradient", `${gradient.length} numbers`, `must have ${this.dim}`);
    if (this.#report) throw invalid("encode", "a second report", "must be called once for a participant: each report costs again");
    const payload = new Uint8Array(gradient.buffer, gradient.byteOffset, gradient.byteLength);
    [, this.#report] = call("encode", { round: this.#handle, type, rows: 1 }, payload);
    call("release", {}, null, [this.#handle]);
    return this.#report.slice();
  }

  /** What SubmitBatch takes, as an object for JSON. It is the same each time. */
  message() {
    if (!this.#report) throw invalid("report", "nothing", "must be there: call encode first");
    const message = { roundId: this.id, roundDigest: base64(this.digest), reports: base64(this.#report) };
    if (this.#batchKey.length > 0) message.batchKey = base64(this.#batchKey);
    // In a round with a shuffler the first token is sealed with the report, and the second one is the shuffler's.
    if (this.#tokens) message.tokens = base64(this.#tokens.subarray(this.sealed ? this.#tokens.length / 2 : 0));
    return message;
  }
}

function base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const JSON_TYPE = "application/json";

/** An error of a server, or of the way to it. got is its code. */
const refused = (method, code, text, cause) => new HushgradError({ kind: "server", param: method, got: code, rule: text, message: `${method}: ${code}: ${text}`, cause });

/** The error of an answer with a status that is none of success. It may be of another program, such as a proxy. */
function refusal(method, status, text) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    // it is no answer of hushgrad
  }
  if (answer?.code) return refused(method, answer.code, answer.message ?? "");
  return refused(method, status === 503 ? "unavailable" : "unknown", `status ${status}: ${text.replace(/\s+/g, " ").slice(0, 200)}`);
}

/** Reads the JSON of an answer. */
const object = (method) => async (response) => {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused(method, "unknown", `the answer must be the JSON of a hushgrad server: ${text.replace(/\s+/g, " ").slice(0, 200)}`, error);
  }
};

function absolute(name, url) {
  try {
    return new URL(url);
  } catch (error) {
    throw invalid(name, url, "must be an absolute URL, such as https://server.example", "param", error);
  }
}

/** Talks to a server, or to the shuffler in front of it, over HTTP, and to an issuer of tokens. */
export class Client {
  #secret;

  constructor(url, { policy, issuer, attempts = 5, timeout = 30_000, maxModelBytes = 64 << 20 } = {}) {
    this.url = absolute("url", url);
    Object.assign(this, { policy, attempts, timeout, maxModelBytes });
    if (!issuer) return;
    this.issuer = absolute("issuer.url", issuer.url);
    if (this.issuer.protocol !== "https:") throw invalid("issuer.url", issuer.url, "must be https: the secret leaves over no other connection");
    if (!/^[\x21-\x7e]+$/.test(issuer.secret ?? "")) throw invalid("issuer.secret", "another text", "must be what hushgrad issue bearer printed");
    this.#secret = issuer.secret;
  }

  #post(method, body, type, read) {
    return this.#send(new URL(`/hushgrad.v1.Rounds/${method}`, this.url), method, body, { "Content-Type": type }, read);
  }

  /** Sends a request and returns what read makes of the answer. */
  async #send(url, method, body, headers, read) {
    try {
      const response = await fetch(url, {
        method: "POST", body, headers: { ...headers, "Connect-Protocol-Version": "1" }, redirect: "error",
        credentials: "omit", referrerPolicy: "no-referrer", signal: AbortSignal.timeout(this.timeout),
      });
      if (!response.ok) throw refusal(method, response.status, await response.text());
      return await read(response);
    } catch (error) {
      if (error instanceof HushgradError) throw error;
      const rule = error.name === "TimeoutError" ? `within ${this.timeout} ms` : "and name the origin of this page by --http-origin";
      throw refused(method, "unavailable", `${url.origin} must answer ${rule}: ${error.message}`, error);
    }
  }

  /** Fetches an open round ("" is the newest one) and joins it under the policy. */
  async join(id = "") {
    await load();
    const { status } = await this.#again(() => this.#post("GetRound", JSON.stringify({ roundId: id }), JSON_TYPE, object("GetRound")));
    if (status?.state !== "ROUND_STATE_OPEN") throw invalid("state", status?.state, "the round must be open");
    if (id !== "" && status.round.id !== id) throw invalid("id", status.round.id, `must be ${id}, as asked for`);
    const participant = joinRound(status.round, this.policy);
    if (participant.shuffler && this.url.protocol === "https:" && this.url.hostname !== participant.shuffler) {
      throw invalid("shuffler", participant.shuffler, `must be the party at ${this.url.hostname}`, "policy");
    }
    if (participant.asksForToken && !this.issuer) throw invalid("issuer", "nothing", "is required: the round asks for tokens");
    return participant;
  }

  /** Gets the tokens of a round that asks for them, and asks again while the issuer is unavailable. */
  async fetchToken(participant) {
    if (!this.issuer) throw invalid("issuer", "nothing", "is required to get a token");
    if (participant.hasToken) return;
    const headers = { "Content-Type": JSON_TYPE, Authorization: `Bearer ${this.#secret}` };
    const ask = async (request) => {
      const body = JSON.stringify(request);
      const answer = await this.#again(() => this.#send(new URL("/hushgrad.v1.Issuer/IssueToken", this.issuer), "IssueToken", body, headers, object("IssueToken")));
      return bytesOf(answer.blindSignature ?? "");
    };
    const signatures = await Promise.all(participant.tokenRequests().map(ask));
    if (!participant.hasToken) participant.takeTokens(signatures);
  }

  /** What a request answers, after another try while the party is unavailable. */
  async #again(request) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (error.got !== "unavailable" || attempt >= this.attempts) throw error;
        await wait(Math.min(100 * 2 ** (attempt - 1), 5000) * (0.5 + Math.random() / 2));
      }
    }
  }

  /** Fetches the current model and checks its size and SHA-256. */
  async model() {
    const request = new Uint8Array([0, 0, 0, 0, 2, 0x7b, 0x7d]); // {} in an envelope
    return this.#post("GetModel", request, "application/connect+json", (response) => this.#received(response));
  }

  async #received(response) {
    const envelopes = new Envelopes(response.body.getReader(), this.maxModelBytes * 2);
    const parts = [];
    let header;
    let size = 0;
    for await (const { last, message } of envelopes) {
      if (last) {
        if (message.error) throw refused("GetModel", message.error.code, message.error.message);
        break;
      }
      header ??= message.header;
      const part = bytesOf(message.data ?? "");
      size += part.length;
      if (!header || size > Number(header.size) || size > this.maxModelBytes) {
        throw invalid("model", `${size} bytes or more`, `must be the ${header?.size} that were announced, at most ${this.maxModelBytes}`);
      }
      parts.push(part);
    }
    const data = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      data.set(part, at);
      at += part.length;
    }
    const sum = base64(new Uint8Array(await crypto.subtle.digest("SHA-256", data)));
    if (!header || size !== Number(header.size) || sum !== header.sha256) {
      throw invalid("model", `${size} bytes with SHA-256 ${sum}`, `must be the ${header?.size} with ${header?.sha256} that were announced`);
    }
    return { version: Number(header.version), format: header.format, data };
  }

  /** Sends the report that encode made, and again while the server is unavailable: it counts once. */
  async submit(participant) {
    if (!(participant instanceof Participant)) throw invalid("participant", typeof participant, "must be what join has returned");
    const body = JSON.stringify(participant.message());
    const answer = await this.#again(() => this.#post("SubmitBatch", body, JSON_TYPE, object("SubmitBatch")));
    return { accepted: Number(answer.accepted ?? 0), duplicates: Number(answer.duplicates ?? 0) };
  }
}

/** Messages in envelopes: a byte of flags, 4 of length, and JSON. */
class Envelopes {
  constructor(reader, most) {
    Object.assign(this, { reader, most, rest: new Uint8Array() });
  }

  async #take(n) {
    if (n > this.most) throw invalid("message", `${n} bytes`, `must have at most ${this.most}`);
    while (this.rest.length < n) {
      const { done, value } = await this.reader.read();
      if (done) throw invalid("stream", "an early end", "must have a last message");
      const both = new Uint8Array(this.rest.length + value.length);
      both.set(this.rest);
      both.set(value, this.rest.length);
      this.rest = both;
    }
    const taken = this.rest.subarray(0, n);
    this.rest = this.rest.subarray(n);
    return taken;
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        const prefix = await this.#take(5);
        const [flags, length] = [prefix[0], new DataView(prefix.buffer, prefix.byteOffset).getUint32(1)];
        const message = JSON.parse(new TextDecoder().decode(await this.#take(length)));
        yield { last: (flags & 2) !== 0, message };
        if (flags & 2) return;
      }
    } finally {
      await this.reader.cancel();
    }
  }
}
