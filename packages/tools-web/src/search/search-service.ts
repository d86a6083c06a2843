import { AgentError, isAgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";

export interface SearchServiceOptions {
  /** Default: the one of the platform. */
  readonly fetch?: typeof fetch;
  /** Milliseconds for one search. Default 10,000. */
  readonly deadlineMs?: number;
  /** For the deadline. Default: the real time. */
  readonly clock?: Pick<Clock, "after">;
}

interface ServiceCall extends SearchServiceOptions {
  readonly name: string;
  readonly url: URL;
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Bytes of an answer that are read; a longer one is an error. */
const answerBytesMax = 2 * 1024 * 1024;

/** Calls a search service, once, and gives its JSON. Redirects are refused, so that no key goes anywhere else. */
export async function callService(call: ServiceCall): Promise<unknown> {
  const { name, url, signal, clock = systemClock, deadlineMs = 10_000 } = call;
  const deadline = new AbortController();
  const cancel = clock.after(deadlineMs, () => deadline.abort());
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    signal.throwIfAborted();
    const response = await (call.fetch ?? fetch)(url, {
      method: call.method ?? "GET",
      headers: { accept: "application/json", ...call.headers },
      ...(call.body === undefined ? {} : { body: call.body }),
      redirect: "error",
      signal: either,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw statusError(name, response);
    }
    return parsed(name, await textOf(name, response));
  } catch (cause) {
    signal.throwIfAborted();
    if (isAgentError(cause)) throw cause;
    const what = deadline.signal.aborted ? `did not answer within ${deadlineMs} ms` : "could not be reached";
    throw failure(name, what, { fix: "Try again later.", retryable: true, cause });
  } finally {
    cancel();
  }
}

async function textOf(name: string, response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > answerBytesMax) throw failure(name, `answered with more than ${answerBytesMax} bytes`, { fix: "Ask for fewer results." });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failure(name, "answered with something that is no JSON", { fix: "Check the address of the service." });
  }
}

function statusError(name: string, { status, headers }: Response): AgentError {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
  if (status === 401 || status === 403)
    return failure(name, `refused the call with HTTP status ${status}`, { fix: "Check its key and its settings." });
  if (status === 429) return failure(name, "limits the rate of calls", { fix: "Search again later.", retryable: true, retryAfterMs });
  if (status === 402 || status === 432 || status === 433)
    return failure(name, "has no quota left", { fix: "Check the plan of the account." });
  if (status >= 500)
    return failure(name, `failed with HTTP status ${status}`, { fix: "Search again later.", retryable: true, retryAfterMs });
  return failure(name, `did not accept the call: HTTP status ${status}`, {
    fix: "Use a shorter, plainer query, and check the key of the service.",
  });
}

interface FailureOptions {
  readonly fix: string;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

function failure(name: string, what: string, options: FailureOptions): AgentError {
  return new AgentError("TOOL_FAILED", { message: `The search service \`${name}\` ${what}.`, ...options });
}

/** The member of a value that is a list of objects; empty when it is not. */
export function listIn(value: unknown, ...path: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return Array.isArray(found) ? found.filter(isObject) : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws AgentError CONFIG_INVALID for an address that is none, or that holds a name or a password */
export function serviceUrl(name: string, text: string): URL {
  const url = URL.parse(text.endsWith("/") ? text : `${text}/`);
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.search === "") return url;
  const message = `\`baseUrl\` of the search service \`${name}\` is not the address of a service.`;
  throw new AgentError("CONFIG_INVALID", { message, fix: "Use a URL with http or https, without credentials and query." });
}

/** @throws AgentError CONFIG_INVALID for a blank key */
export function serviceKey(name: string, key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new AgentError("CONFIG_INVALID", {
    message: `The key of the search service \`${name}\` is blank or holds spaces.`,
    fix: "Pass `apiKey`.",
  });
}
