import { AgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { ConditionalBlobs, ObjectPage, PutOptions, PutOutcome, StoredObject } from "../conditional-blobs.ts";
import { KeyQueue } from "../key-queue.ts";
import { type S3Answer, type S3Place, S3Requests } from "./s3-requests.ts";
import { readErrorCode, readListing } from "./s3-xml.ts";

export interface S3BlobsOptions extends Omit<S3Place, "endpoint"> {
  /** Default: Amazon's for the region. */
  readonly endpoint?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Put before every key, for example `loopwright/`. Default: nothing. */
  readonly prefix?: string;
  /** Of one call, with all its tries. Default 2,000 ms. */
  readonly deadlineMs?: number;
  /** For servers that do not check the condition of a write: no other process writes to the prefix, and you ensure that. */
  readonly singleWriter?: boolean;
  /** Times deadlines and pauses. Default: the process's. */
  readonly clock?: Clock;
  /** Default: the process's. */
  readonly fetch?: typeof fetch;
}

const pageMax = 1_000;
const mediaTypeHeader = "x-amz-meta-media-type";
/**
 * The statuses of a condition that did not hold. AWS: 412, and 409 while another write is under way; MinIO has answered 304.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html (2026-11-21), https://github.com/minio/minio/issues/19442
 */
const refusals: ReadonlySet<number> = new Set([304, 409, 412]);

/**
 * Objects in a bucket of S3 or of a server that speaks its language. Before the first write it is tried whether the server checks conditions; one that does
 * not is refused with CONFIG_INVALID, unless `singleWriter` is set.
 */
export function s3Blobs(options: S3BlobsOptions): ConditionalBlobs {
  const { region, bucket, accessKeyId, secretAccessKey, sessionToken, prefix = "", singleWriter = false } = options;
  const { endpoint = `https://s3.${region}.amazonaws.com`, deadlineMs = 2_000, clock = systemClock } = options;
  for (const [name, value] of Object.entries({ bucket, region, accessKeyId, secretAccessKey }))
    if (!value) throw new AgentError("CONFIG_INVALID", { message: `The object store has no ${name}.`, fix: `Set \`${name}\`.` });
  checkEndpoint(endpoint);
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const requests = new S3Requests({ endpoint, region, bucket, credentials, deadlineMs, clock, fetch: options.fetch ?? globalThis.fetch });
  const place: ConditionalBlobs = {
    clockGrainMs: 1_000,
    get: (key) => getObject(requests, prefix + key),
    has: (key) => hasObject(requests, prefix + key),
    put: (key, bytes, putOptions = {}) => putObject(requests, { key: prefix + key, bytes }, putOptions),
    async remove(key) {
      const answer = await requests.send({ method: "DELETE", key: prefix + key });
      if (answer && answer.status >= 300 && answer.status !== 404) throw requests.fault(answer);
      if (!answer) throw new AgentError("STORE_UNAVAILABLE", { message: `The object store at ${endpoint} did not answer in time.` });
    },
    list: (start, { after, limit = pageMax } = {}) => listObjects(requests, { prefix, start, after, limit }),
    async close() {},
  };
  return singleWriter ? aloneAt(place, requests, prefix) : proven(place, { endpoint });
}

/** The endpoint is named in errors: it may hold no secret, and is not repeated where it is none. @throws AgentError CONFIG_INVALID */
function checkEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint);
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.search === "") return;
  throw new AgentError("CONFIG_INVALID", {
    message: "The `endpoint` of the object store is not the address of a server.",
    fix: "Use https://host or http://host:port, and pass the keys as `accessKeyId` and `secretAccessKey`.",
  });
}

/** Tries before the first write whether the server checks conditions. */
function proven(place: ConditionalBlobs, { endpoint }: { readonly endpoint: string }): ConditionalBlobs {
  let proof: Promise<void> | undefined;
  async function prove(): Promise<void> {
    const key = `probe/${crypto.randomUUID()}`;
    const bytes = new TextEncoder().encode("Loopwright asks whether conditions of writes are checked.");
    const first = await place.put(key, bytes, { ifNoneMatch: true });
    const again = await place.put(key, bytes, { ifNoneMatch: true });
    const other = await place.put(key, bytes, { ifMatch: '"00000000000000000000000000000000"' });
    await place.remove(key).catch(() => undefined);
    if ([first, again, other].some(({ type }) => type === "unknown"))
      throw new AgentError("STORE_UNAVAILABLE", { message: `The object store at ${endpoint} did not answer in time.` });
    if (again.type === "refused" && other.type === "refused") return;
    throw new AgentError("CONFIG_INVALID", {
      message: `The object store at ${endpoint} does not check the conditions of writes (If-None-Match, If-Match): two writers would overwrite each other.`,
      fix: "Use a server that does, or set `singleWriter` if only one process writes there.",
    });
  }
  return {
    ...place,
    async put(key, bytes, options) {
      proof ??= prove();
      try {
        await proof;
      } catch (error) {
        proof = undefined;
        throw error;
      }
      return place.put(key, bytes, options);
    },
  };
}

/** Conditions checked here, one key at a time: as good as the promise that no other process writes. */
function aloneAt(place: ConditionalBlobs, requests: S3Requests, prefix: string): ConditionalBlobs {
  const keys = new KeyQueue();
  return {
    ...place,
    exclusive: { life: crypto.randomUUID() },
    // @20minutes/s3rver 5.0.0 answers 500 to a list that it has to cut (2026-11-21): it makes a token with a cipher that OpenSSL has given up.
    async list(start, { after, limit = pageMax } = {}) {
      const { objects, hasMore } = await place.list(start, after === undefined ? {} : { after });
      return { objects: objects.slice(0, limit), hasMore: hasMore || objects.length > limit };
    },
    put: (key, bytes, options = {}) =>
      keys.run(key, async () => {
        const { ifMatch, ifNoneMatch, ...unconditional } = options;
        if (ifNoneMatch && (await place.has(key))) return { type: "refused", mayBeOwn: false };
        if (ifMatch !== undefined && (await etagOf(requests, prefix + key)) !== ifMatch) return { type: "refused", mayBeOwn: false };
        return place.put(key, bytes, unconditional);
      }),
  };
}

async function etagOf(requests: S3Requests, key: string): Promise<string | undefined> {
  const answer = await requests.send({ method: "HEAD", key });
  return answer?.status === 200 ? (answer.headers.get("etag") ?? undefined) : undefined;
}

async function hasObject(requests: S3Requests, key: string): Promise<boolean> {
  const answer = await requests.send({ method: "HEAD", key });
  if (answer?.status === 200) return true;
  if (answer?.status === 404) return false;
  throw requests.fault(answer ?? nothing);
}

async function getObject(requests: S3Requests, key: string): Promise<StoredObject | undefined> {
  const answer = (await requests.send({ method: "GET", key })) ?? nothing;
  if (answer.status === 404 && readErrorCode(new TextDecoder().decode(answer.bytes)) !== "NoSuchBucket") return undefined;
  if (answer.status !== 200) throw requests.fault(answer);
  const { headers, bytes } = answer;
  const mediaType = headers.get(mediaTypeHeader);
  return {
    bytes,
    etag: headers.get("etag") ?? "",
    // Both of the server's clock, in whole seconds.
    ageMs: Math.max(0, dateOf(headers, "date") - dateOf(headers, "last-modified")),
    ...(mediaType === null ? {} : { mediaType: decodeURIComponent(mediaType) }),
  };
}

function dateOf(headers: Headers, name: string): number {
  const date = Date.parse(headers.get(name) ?? "");
  return Number.isNaN(date) ? 0 : date;
}

async function putObject(
  requests: S3Requests,
  { key, bytes }: { readonly key: string; readonly bytes: Uint8Array },
  { ifMatch, ifNoneMatch, mediaType }: PutOptions,
): Promise<PutOutcome> {
  const answer = await requests.send({
    method: "PUT",
    key,
    // A copy with a buffer of its own, which fetch asks for.
    body: new Uint8Array(bytes),
    headers: {
      "content-type": mediaType ?? "application/octet-stream",
      ...(mediaType === undefined ? {} : { [mediaTypeHeader]: encodeURIComponent(mediaType) }),
      ...(ifNoneMatch ? { "if-none-match": "*" } : {}),
      ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    },
  });
  if (!answer) return { type: "unknown" };
  if (answer.status === 200) return { type: "written", etag: answer.headers.get("etag") ?? "" };
  // Nothing there to match: as good as another version.
  const isRefused = refusals.has(answer.status) || (ifMatch !== undefined && answer.status === 404 && !isBucketMissing(answer));
  if (isRefused) return { type: "refused", mayBeOwn: answer.mayHaveBeenDone };
  if (answer.mayHaveBeenDone) return { type: "unknown" };
  if (answer.status === 507) return { type: "full" };
  throw requests.fault(answer);
}

function isBucketMissing({ bytes }: S3Answer): boolean {
  return readErrorCode(new TextDecoder().decode(bytes)) === "NoSuchBucket";
}

async function listObjects(
  requests: S3Requests,
  {
    prefix,
    start,
    after,
    limit,
  }: { readonly prefix: string; readonly start: string; readonly after: string | undefined; readonly limit: number },
): Promise<ObjectPage> {
  const query = {
    "list-type": "2",
    prefix: prefix + start,
    "max-keys": String(Math.min(limit, pageMax)),
    ...(after === undefined ? {} : { "start-after": prefix + after }),
  };
  const answer = (await requests.send({ method: "GET", query })) ?? nothing;
  if (answer.status !== 200) throw requests.fault(answer);
  const { objects, hasMore } = readListing(new TextDecoder().decode(answer.bytes));
  return { objects: objects.map((object) => ({ ...object, key: object.key.slice(prefix.length) })), hasMore };
}

const nothing: S3Answer = { status: 0, headers: new Headers(), bytes: new Uint8Array(), mayHaveBeenDone: false };
