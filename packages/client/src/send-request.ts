import type { AgentError } from "@loopwright/core/protocol";
import type { ClientContext } from "./client-context.ts";
import { clientError, errorFromDocument, unreachable } from "./client-error.ts";

export interface WireRequest {
  /** Default GET, with a body POST. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the base, with the query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly bytes?: Blob;
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly signal?: AbortSignal | undefined;
}

/**
 * The response of the server when its status is 2xx. @throws AgentError the error of its problem document, SERVER_UNREACHABLE when there is no
 * response; the signal's reason when it is aborted
 */
export async function sendRequest(client: ClientContext, request: WireRequest): Promise<Response> {
  const { path, json, bytes, signal } = request;
  const headers = new Headers(client.headers);
  const token = typeof client.token === "function" ? await client.token() : client.token;
  if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
  if (client.scope !== undefined) headers.set("X-Scope", client.scope);
  if (json !== undefined) headers.set("Content-Type", "application/json");
  for (const [name, value] of Object.entries(request.headers ?? {})) if (value !== undefined) headers.set(name, value);
  const body = json === undefined ? bytes : JSON.stringify(json);
  const method = request.method ?? (body === undefined ? "GET" : "POST");
  const init = { method, headers, ...(body === undefined ? {} : { body }), ...(signal ? { signal } : {}) };
  let response: Response;
  try {
    response = await client.fetch(new Request(client.url + path, init));
  } catch (cause) {
    throw signal?.aborted ? signal.reason : unreachable(client.url, cause);
  }
  if (response.ok) return response;
  throw await refusalOf(response, client);
}

/** The JSON of the answer. @throws AgentError as `sendRequest` */
export async function requestJson<T>(client: ClientContext, request: WireRequest): Promise<T> {
  const response = await sendRequest(client, request);
  return readWhole(client, request, async () => (await response.json()) as T);
}

/** The text of the answer, and its headers. @throws AgentError as `sendRequest` */
export async function requestText(
  client: ClientContext,
  request: WireRequest,
): Promise<{ readonly headers: Headers; readonly text: string }> {
  const response = await sendRequest(client, request);
  return readWhole(client, request, async () => ({ headers: response.headers, text: await response.text() }));
}

/** @throws AgentError SERVER_UNREACHABLE when the body was cut off; the signal's reason when it is aborted */
async function readWhole<T>(client: ClientContext, request: WireRequest, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw request.signal?.aborted ? request.signal.reason : unreachable(client.url, cause);
  }
}

async function refusalOf(response: Response, client: ClientContext): Promise<AgentError> {
  const { status } = response;
  const retryAfterMs = waitOf(response.headers.get("Retry-After"), client);
  const more = { details: { status }, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  const known = errorFromDocument(await response.json().catch(() => undefined), more);
  if (known) return known;
  // A proxy answered in place of the server, or the body was cut off.
  const isCut = response.headers.get("Content-Type")?.includes("json");
  const mayPass = isCut || status >= 500 || status === 429 || status === 408;
  return clientError(mayPass ? "SERVER_UNREACHABLE" : "INTERNAL", {
    ...more,
    message: `The address ${client.url} answered ${status} without a problem document.`,
    fix: "Check that the address is a server of Loopwright.",
    retryable: mayPass === true,
  });
}

/** `Retry-After` in milliseconds from now: seconds, or a date. */
function waitOf(header: string | null, { clock }: ClientContext): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Whether the request is worth repeating: the error is marked retryable, or the server failed. A busy session stays busy until its run ends. */
export function mayPass({ code, retryable, details }: AgentError): boolean {
  return code !== "SESSION_BUSY" && (retryable || Number(details?.["status"]) >= 500);
}
