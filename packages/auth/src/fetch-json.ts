import type { Clock } from "@loopwright/core/ports";

/** Sends a request: the platform's `fetch`, or one with another transport. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Answers to wait for, and how long. */
export interface FetchJsonOptions {
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly headers?: { readonly [name: string]: string };
}

export interface JsonAnswer {
  readonly status: number;
  /** `undefined`: the body is not JSON. */
  readonly body: unknown;
}

/** An address to which credentials may be sent: over TLS, or on this machine. */
export function isSafeUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username } = new URL(url);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return username === "" && (protocol === "https:" || (protocol === "http:" && isLocal));
}

/** One GET, of which redirects are not followed. Rejects when no whole answer comes in time, and when it is too long. */
export async function fetchJson(url: string, options: FetchJsonOptions): Promise<JsonAnswer> {
  const { fetch, clock, timeoutMs, bytesMax, headers = {} } = options;
  const ending = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(timeoutMs, () => {
    reject(new Error(`no answer within ${timeoutMs} ms`));
    ending.abort();
  });
  const asked = async (): Promise<JsonAnswer> => {
    const response = await fetch(url, { headers: { Accept: "application/json", ...headers }, redirect: "manual", signal: ending.signal });
    const text = await textOf(response, bytesMax);
    return { status: response.status, body: jsonOf(text) };
  };
  const answer = asked();
  answer.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
    ending.abort();
  }
}

async function textOf(response: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  let size = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
