/*
 * Owns: one call to an S3 server, within its deadline: signing, trying again, and what may have happened when no answer came.
 */
import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { AwsV4Signer } from "aws4fetch";
import { readErrorCode } from "./s3-xml.ts";

export interface S3Place {
  /** For example `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:9000`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3RequestsOptions extends S3Place {
  readonly credentials: S3Credentials;
  /** Of one call, with all its tries. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Absent: the bucket. */
  readonly key?: string;
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** An answer that came whole. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** An earlier try of the same call had no clear end: it may have been done. */
  readonly mayHaveBeenDone: boolean;
}

/** Statuses after which the same request is sent again: throttling and what passes by itself. */
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const refusedBeforeWork: ReadonlySet<number> = new Set([429, 503]);
const pauseMs: { readonly first: number; readonly longest: number } = { first: 25, longest: 400 };
/** The least time that a try gets. */
const tryMsMin = 100;

/** Sends requests to one bucket. */
export class S3Requests {
  readonly #options: S3RequestsOptions;
  /** Keys made of the secret for a day and a region. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(options: S3RequestsOptions) {
    this.#options = options;
  }

  /**
   * The answer; `undefined` when the time was over and the request may have been done or may still be.
   * @throws AgentError STORE_UNAVAILABLE when the time was over and nothing was done
   */
  async send(request: S3Request): Promise<S3Answer | undefined> {
    const { clock, deadlineMs, endpoint } = this.#options;
    const deadline = clock.monotonic() + deadlineMs;
    let mayHaveBeenDone = false;
    let last = "no answer";
    for (let tries = 0; ; tries++) {
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0) break;
      // A connection that hangs leaves half of the time to another one.
      const answer = await this.#try(request, Math.max(tryMsMin, leftMs / 2));
      if (typeof answer !== "string" && !passing.has(answer.status)) return { ...answer, mayHaveBeenDone };
      if (typeof answer === "string" || !refusedBeforeWork.has(answer.status)) mayHaveBeenDone = true;
      last = typeof answer === "string" ? answer : `status ${answer.status}`;
      const longest = Math.min(pauseMs.longest, pauseMs.first * 2 ** tries, deadline - clock.monotonic());
      if (longest > 0) await new Promise<void>((resolve) => clock.after(jitter() * longest, resolve));
    }
    if (mayHaveBeenDone && request.method !== "GET" && request.method !== "HEAD") return undefined;
    throw new AgentError("STORE_UNAVAILABLE", {
      message: `The object store at ${endpoint} did not answer within ${deadlineMs} ms (${last}).`,
    });
  }

  /** The answer, or why there was none. */
  async #try(
    { method, key, query = {}, headers = {}, body }: S3Request,
    timeoutMs: number,
  ): Promise<Omit<S3Answer, "mayHaveBeenDone"> | string> {
    const { endpoint, bucket, region, credentials, clock } = this.#options;
    const url = new URL(
      `${endpoint.replace(/\/+$/, "")}/${bucket}${key === undefined ? "" : `/${key.split("/").map(encodeURIComponent).join("/")}`}`,
    );
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const controller = new AbortController();
    const stop = clock.after(timeoutMs, () => controller.abort());
    try {
      const place = { service: "s3", region, cache: this.#signingKeys, ...credentials };
      const signed = await new AwsV4Signer({ url: url.href, method, headers, ...(body ? { body } : {}), ...place }).sign();
      // A signature is good for one place; and the page of a redirect would pass for an answer of the store.
      const request: RequestInit = { method, headers: signed.headers, redirect: "manual", signal: controller.signal };
      if (body) request.body = body;
      const response = await this.#options.fetch(signed.url, request);
      return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
    } catch (error) {
      // Texts of errors below may hold anything.
      return controller.signal.aborted ? "no answer in time" : `connection failed${causeOf(error)}`;
    } finally {
      stop();
    }
  }

  /** What an answer means that is neither success nor an expected refusal. */
  fault({ status, bytes }: S3Answer): AgentError {
    const { endpoint, bucket } = this.#options;
    const code = readErrorCode(new TextDecoder().decode(bytes.subarray(0, 4_096)));
    const reply = `${status}${code === undefined ? "" : ` ${code}`}`;
    if (status === 507) return new AgentError("STORE_FULL", { message: `The object store at ${endpoint} has no space left (${reply}).` });
    if (status === 401 || status === 403)
      return new AgentError("STORE_READ_ONLY", {
        message: `The object store at ${endpoint} refused the request for bucket \`${bucket}\` (${reply}).`,
        fix: "Check the credentials, what they may do, and this machine's clock.",
      });
    return new AgentError("STORE_UNAVAILABLE", {
      message: `The object store at ${endpoint} answered ${reply} for bucket \`${bucket}\`.`,
      fix: code === "NoSuchBucket" ? `Make the bucket \`${bucket}\`, or name another.` : "Check endpoint, region and bucket.",
    });
  }
}

function causeOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : "";
}

/** Between 0 and 1. */
function jitter(): number {
  const [value = 0] = crypto.getRandomValues(new Uint32Array(1));
  return value / 2 ** 32;
}
