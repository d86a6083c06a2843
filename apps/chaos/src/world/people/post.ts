/** The answer of a node to a request that was repeated until one answered. */
export interface Answer {
  readonly status: number;
  readonly body: { readonly [field: string]: unknown };
  /** How many requests were needed. */
  readonly tries: number;
}

export interface PostOptions {
  /** The base URL of a node to ask, another at each time. */
  readonly pick: () => string;
  readonly path: string;
  readonly body: object;
  readonly key: string;
  /** How long one request may take. */
  readonly patienceMs?: number;
  /** After this long no answer is expected any more. */
  readonly untilMs?: number;
  readonly method?: "POST" | "GET" | "PUT" | "DELETE";
  /** Headers of the caller, added to those of the rig. */
  readonly headers?: { readonly [name: string]: string };
  /** Gets every answer. */
  readonly receive?: ((text: string) => void) | undefined;
}

const patienceDefault = 5_000;
const untilDefault = 60_000;

/** Posts with one idempotency key until a node gives an answer that is final. `undefined`: none did in time. */
export async function post({
  pick,
  path,
  body,
  key,
  patienceMs = patienceDefault,
  untilMs = untilDefault,
  method = "POST",
  headers = {},
  receive,
}: PostOptions): Promise<Answer | undefined> {
  const until = performance.now() + untilMs;
  for (let tries = 1; performance.now() < until; tries++) {
    try {
      const response = await fetch(`${pick()}${path}`, {
        method,
        headers: { "content-type": "application/json", "idempotency-key": key, ...headers },
        ...(method === "POST" || method === "PUT" ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await response.text();
      receive?.(text);
      const answer = JSON.parse(text) as Answer["body"];
      if (response.status < 500 && response.status !== 429) return { status: response.status, body: answer, tries };
    } catch {
      // The node died, or did not answer: the next one is asked with the same key.
    }
    await new Promise((resolve) => setTimeout(resolve, 10 + 40 * Math.random()));
  }
  return undefined;
}
