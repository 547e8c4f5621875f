/** An error with the name of what is wrong (param), what it was (got) and the rule. */
export class HushgradError extends Error {
  /**
   * "policy": the round was refused; "server": the server's answer, got is its code, "unavailable" where there was
   * none; else "param" or "other".
   */
  readonly kind: string;
  readonly param: string;
  readonly got: string;
  readonly rule: string;
}

/** What a client demands of a round. NaN and null are errors. */
export interface Policy {
  /** Largest ε of one report. Infinity also accepts rounds without privacy. */
  maxEpsilon: number;
  /** Largest δ of one report. Default 0. */
  maxDelta?: number;
  /** Smallest number of reports below which a round releases nothing. Default 0, which demands nothing. */
  minReports?: number;
  /** Largest number of coordinates: it bounds memory. Default 2 ** 24. */
  maxDim?: number;
  /** Accepts guarantees that hold only for the shuffled reports of all clients. Default false. */
  trustShuffler?: boolean;
  /** Weakest relation. "zero-out" also accepts "replace-one", which protects more. Default "replace-one". */
  relation?: "replace-one" | "zero-out";
  /** Accepts guarantees that are proved for real numbers only. The code does not keep them. Default false. */
  acceptRealNumbers?: boolean;
  /**
   * Names of mechanisms. Default: all but the mechanism of two servers ("gaussian-shares"), which is accepted only by its name:
   * its guarantee holds against either of two servers, and not against both.
   */
  mechanisms?: string[];
  /** What Round.features must be. Default: anything. */
  features?: string;
  /** Also accepts rounds of these shufflers. */
  shuffled?: {
    shufflers: string[];
    /** SHA-256 of the seal keys, hexadecimal. */
    sealKeys: string[];
    /** SHA-256 of the share keys, hexadecimal: a round of the mechanism for two servers needs one. */
    shareKeys?: string[];
    maxEpsilonLocal: number;
    maxEpsilon: number;
    maxDelta: number;
  };
}

/** What one report promises its sender. */
export interface Guarantee {
  /** Whom the sender has to trust. "two-servers" holds against either of two servers, as long as the other one is honest. */
  trust: "none" | "local" | "shuffle" | "two-servers";
  epsilon: number;
  delta: number;
  relation: "replace-one" | "zero-out";
  /** The proof is about real numbers. The code does not keep it. */
  realNumbers: boolean;
}

/**
 * Loads the program, once. The source is a URL or the bytes of hushgrad.wasm.gz or hushgrad.wasm. Default the file
 * beside index.js. Node cannot fetch a file: give it the bytes there.
 */
export function load(source?: URL | string | Uint8Array): Promise<void>;

/**
 * Joins a round under a policy. Nothing is sent. The round is its canonical bytes, or its JSON as text
 * or object. It throws a HushgradError of kind "policy" when the policy refuses the round.
 */
export function joinRound(round: Uint8Array | string | object, policy: Policy): Participant;

/** A number as text with 4 digits, rounded up. */
export function above(x: number): string;

/** What this tab does in one round: it makes one report. */
export class Participant {
  private constructor();
  readonly id: string;
  readonly mechanism: string;
  /** Length of a gradient. */
  readonly dim: number;
  /** Name of the shuffler, "" for none. */
  readonly shuffler: string;
  readonly sealed: boolean;
  /** The round takes a report only with a token of its issuer: see Client.fetchToken. */
  readonly asksForToken: boolean;
  /** The tokens that the round asks for are there. */
  readonly hasToken: boolean;
  readonly features: string;
  /** SHA-256 of the round, 32 bytes. */
  readonly digest: Uint8Array;
  /** Length of every report, 0 where lengths vary. */
  readonly reportBytes: number;
  /** What the report costs, against the party that `trust` names. */
  readonly cost: Guarantee;
  /** What it costs among the reports of others; null unless the policy pins the shuffler. */
  readonly central: Guarantee | null;
  /** Both in words. */
  readonly guarantee: string;
  /**
   * What IssueToken of the issuer takes, as objects for JSON: one, or two in a round with a shuffler. They are
   * blinded. Send them to no other party. It throws in a round that asks for no tokens. Client.fetchToken does
   * this and takeTokens.
   */
  tokenRequests(): { tokenKeyId: string; blindedMessage: string }[];
  /**
   * Makes the tokens of the issuer's answers, blind signatures in the order of the requests, and keeps them. It
   * throws when the issuer has not signed a request.
   */
  takeTokens(blindSignatures: Uint8Array[]): void;
  /**
   * Makes the report of a gradient of `dim` numbers: sealed, in a round with a shuffler. The second call
   * throws, and so does one without the token that the round asks for. The randomness comes from
   * crypto.getRandomValues.
   */
  encode(gradient: Float32Array | Float64Array): Uint8Array;
  /** What SubmitBatch takes, as an object for JSON. */
  message(): { roundId: string; roundDigest: string; batchKey?: string; reports: string; tokens?: string };
}

export interface ClientOptions {
  policy: Policy;
  /**
   * The party that admits clients, which rounds with tokens need: the address of hushgrad issue --http,
   * https always, and the secret by which it knows this client.
   */
  issuer?: { url: URL | string; secret: string };
  /** How often the client asks for a round, for tokens, or for its report to be taken, while who is asked is unavailable. Default 5. */
  attempts?: number;
  /** Milliseconds for each request. Default 30 000. */
  timeout?: number;
  /** Default 64 MiB. */
  maxModelBytes?: number;
}

/** Talks to a server, or to the shuffler in front of it, over HTTP, and to an issuer of tokens. */
export class Client {
  constructor(url: URL | string, options: ClientOptions);
  /** Fetches an open round ("" is the newest one) and joins it under the policy. */
  join(id?: string): Promise<Participant>;
  /**
   * Gets the token of a round that asks for one: before encode, and some time before submit, so that the
   * moments say less about who is who. In a round with a shuffler it gets a second one, which the shuffler
   * spends. The issuer signs once for each client and key, and the same request again. A tab that is closed
   * loses its tokens.
   */
  fetchToken(participant: Participant): Promise<void>;
  /** Fetches the current model and checks its size and SHA-256, which needs https or localhost. */
  model(): Promise<{ version: number; format: string; data: Uint8Array }>;
  /** Sends the report that encode made, and again while the server is unavailable: it counts once. */
  submit(participant: Participant): Promise<{ accepted: number; duplicates: number }>;
}
