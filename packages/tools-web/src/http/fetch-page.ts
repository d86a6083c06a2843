import type { IncomingMessage } from "node:http";
import { isAgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import type { AdmittedUrl } from "@loopwright/url-guard";
import { webError } from "../web-error.ts";
import { parseWebUrl, type WebGuard } from "../web-guard.ts";
import type { WebLimits } from "../web-limits.ts";
import { isKnownEncoding, readBody } from "./read-body.ts";
import { type DialTarget, requestOnce } from "./request-once.ts";

export interface FetchSettings {
  readonly guard: WebGuard;
  readonly limits: WebLimits;
  readonly clock: Pick<Clock, "after">;
  readonly userAgent: string;
  /** For tests. */
  readonly dial?: ((target: DialTarget) => DialTarget) | undefined;
}

/** A fetched page. */
export interface FetchedPage {
  /** After the redirects. */
  readonly url: URL;
  readonly status: number;
  /** Without parameters, in lower case. */
  readonly contentType: string;
  /** As the header names it. */
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
}

/** Addresses of a host that are tried before the fetch is given up. */
const addressesTriedMax = 3;
const neverConnected = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ETIMEDOUT"]);

/**
 * Fetches a page: each hop through the guard and to the address that it checked, without cookies and credentials. `isReadable` decides by the type
 * before the body is read. @throws AgentError with `details.reason`; the signal's reason when it was aborted
 */
export async function fetchPage(
  text: string,
  options: { readonly settings: FetchSettings; readonly signal: AbortSignal; readonly isReadable: (contentType: string) => boolean },
): Promise<FetchedPage> {
  const { settings, signal } = options;
  const start = parseWebUrl(text);
  const deadline = new AbortController();
  const cancel = settings.clock.after(settings.limits.deadlineMs, () => deadline.abort());
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    return await untilAborted(followRedirects(start, { ...options, signal: either }), either);
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.signal.aborted) throw webError("timed_out", start, { what: `was not complete after ${settings.limits.deadlineMs} ms` });
    throw isAgentError(error) ? error : webError("connection_failed", start, { what: "could not be read from its server", cause: error });
  } finally {
    cancel();
    // Whatever is still open: a connection of an abandoned attempt.
    deadline.abort();
  }
}

async function followRedirects(start: URL, options: Parameters<typeof fetchPage>[1]): Promise<FetchedPage> {
  const { guard, limits } = options.settings;
  let admitted = await guard.admit(start);
  for (let hop = 0; ; hop++) {
    options.signal.throwIfAborted();
    const message = await requestAny(admitted, options);
    const target = redirectOf(message);
    if (target === undefined) return readPage(message, admitted.url, options);
    message.destroy();
    if (hop >= limits.redirectsMax)
      throw webError("too_many_redirects", start, { what: `was redirected more than ${limits.redirectsMax} times` });
    admitted = await guard.admit(parseWebUrl(target, admitted.url), admitted);
  }
}

/** The response of the first address that accepts a connection. */
async function requestAny(admitted: AdmittedUrl, { settings, signal }: Parameters<typeof fetchPage>[1]): Promise<IncomingMessage> {
  const headers = {
    "user-agent": settings.userAgent,
    accept: "text/html,application/xhtml+xml;q=0.9,text/*;q=0.8,application/json;q=0.7,*/*;q=0.1",
    "accept-encoding": "gzip, deflate, br",
  };
  const { headerBytesMax } = settings.limits;
  const addresses = admitted.addresses.slice(0, addressesTriedMax);
  for (const [index, address] of addresses.entries()) {
    try {
      return await requestOnce(admitted.url, { address, headers, headerBytesMax, signal, dial: settings.dial });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (index < addresses.length - 1 && neverConnected.has(code)) continue;
      const what = `could not be read from its server${code === "" ? "" : ` (${code})`}`;
      throw webError("connection_failed", admitted.url, { what, cause: error });
    }
  }
  throw webError("host_not_found", admitted.url, { what: "is on a host without an address" });
}

function redirectOf(message: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(message.statusCode ?? 0) ? message.headers.location : undefined;
}

async function readPage(message: IncomingMessage, url: URL, options: Parameters<typeof fetchPage>[1]): Promise<FetchedPage> {
  const status = message.statusCode ?? 0;
  const [contentType = "", ...parameters] = (message.headers["content-type"] ?? "").split(";").map((part) => part.trim());
  const type = contentType.toLowerCase();
  const encoding = (message.headers["content-encoding"] ?? "").trim().toLowerCase();
  const refuse = (...[reason, what]: ["bad_status" | "type_not_supported" | "encoding_not_supported", string]): never => {
    message.destroy();
    throw webError(reason, url, { what });
  };
  if (status < 200 || status > 299) refuse("bad_status", `answered with HTTP status ${status}`);
  if (!options.isReadable(type)) refuse("type_not_supported", `has the type ${JSON.stringify(type.slice(0, 100))}, which cannot be read`);
  if (!isKnownEncoding(encoding)) refuse("encoding_not_supported", "came in an encoding that was not asked for");
  const charset = parameters.map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1]).find((name) => name !== undefined);
  const { bytes, isCut } = await readBody(message, encoding, options.settings.limits.bodyBytesMax);
  return { url, status, contentType: type, charset, bytes, isCut };
}

/** Rejects as soon as the signal is aborted: a look-up of a name cannot be. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
