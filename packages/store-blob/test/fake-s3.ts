import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@loopwright/core/ports";

/** What goes wrong with a request. */
export type S3Fault =
  /** Answered with this status and code, nothing done. */
  | { readonly type: "status"; readonly status: number; readonly code: string }
  /** The connection is cut, nothing done. */
  | { readonly type: "cut" }
  /** Done, but the connection is cut before the answer. */
  | { readonly type: "cut-after" }
  /** No answer ever; done or not. */
  | { readonly type: "hang"; readonly done: boolean }
  /** Done; half of the answer's body comes, the rest never. */
  | { readonly type: "slow-body" };

export interface S3Call {
  readonly method: string;
  /** Empty for a list. */
  readonly key: string;
}

export interface FakeS3Object {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly writtenMs: number;
  readonly headers: { readonly [name: string]: string };
  /** How many reads are answered that it is not there yet. */
  hiddenReads: number;
  /** How many lists do not name it yet. */
  hiddenLists: number;
}

/** A strict server of the part of S3 that the store uses: a condition is checked in the moment of the write. */
export interface FakeS3 {
  readonly endpoint: string;
  readonly objects: Map<string, FakeS3Object>;
  readonly calls: S3Call[];
  /** Asked for each request. */
  faultOf: (call: S3Call) => S3Fault | undefined;
  /** Called when a request will get no answer, or no more of one. */
  hung: () => void;
  /** How late a write is seen by reads and by lists, in reads and lists. */
  lateness: (call: S3Call) => { readonly reads: number; readonly lists: number };
  close(): Promise<void>;
}

const bucket = "sessions";
export const fakeS3Place: { readonly [Name in "region" | "bucket" | "accessKeyId" | "secretAccessKey"]: string } = {
  region: "eu-test-1",
  bucket: bucket,
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "s3cr3t-canary",
};

export async function startFakeS3(clock: Pick<Clock, "monotonic">): Promise<FakeS3> {
  const objects = new Map<string, FakeS3Object>();
  const calls: S3Call[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeS3 = {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    calls,
    faultOf: () => undefined,
    hung: () => undefined,
    lateness: () => ({ reads: 0, lists: 0 }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", fake.endpoint);
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    const call: S3Call = { method: request.method ?? "", key };
    calls.push(call);
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/.*Signature=[0-9a-f]{64}$/.test(request.headers.authorization ?? ""))
      return answer(response, { status: 403, code: "AccessDenied" });
    const fault = fake.faultOf(call);
    if (fault?.type === "status") return answer(response, fault);
    if (fault?.type === "cut") return void request.socket.destroy();
    if (fault?.type === "hang" && !fault.done) return fake.hung();
    const result = work(call, url, request, Buffer.concat(chunks));
    if (fault?.type === "hang") return fake.hung();
    if (fault?.type === "cut-after") return void request.socket.destroy();
    if (fault?.type !== "slow-body" || !result.body?.length) return answer(response, result);
    response.writeHead(result.status, { date: dateOf(clock.monotonic()), "content-length": String(result.body.length), ...result.headers });
    response.write(result.body.subarray(0, Math.floor(result.body.length / 2)), () => fake.hung());
  }

  function work(call: S3Call, url: URL, request: IncomingMessage, body: Uint8Array): Result {
    const found = objects.get(call.key);
    switch (call.method) {
      case "PUT":
        return put(call, request, body);
      case "DELETE":
        objects.delete(call.key);
        return { status: 204 };
      case "HEAD":
      case "GET": {
        if (call.key === "") return list(url.searchParams);
        if (!found || (found.hiddenReads > 0 && found.hiddenReads--)) return { status: 404, code: "NoSuchKey" };
        const headers = { etag: found.etag, "last-modified": dateOf(found.writtenMs), ...found.headers };
        return { status: 200, headers, ...(call.method === "GET" ? { body: found.bytes } : {}) };
      }
      default:
        return { status: 405, code: "MethodNotAllowed" };
    }
  }

  function put(call: S3Call, request: IncomingMessage, bytes: Uint8Array): Result {
    const found = objects.get(call.key);
    const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = request.headers;
    if (ifNoneMatch !== undefined && ifNoneMatch !== "*") return { status: 501, code: "NotImplemented" };
    if (ifMatch !== undefined && !found) return { status: 404, code: "NoSuchKey" };
    if ((ifNoneMatch && found) || (ifMatch !== undefined && ifMatch !== found?.etag)) return { status: 412, code: "PreconditionFailed" };
    const etag = `"${createHash("md5").update(bytes).digest("hex")}"`;
    const { reads, lists } = fake.lateness(call);
    const mediaType = request.headers["x-amz-meta-media-type"];
    const headers = typeof mediaType === "string" ? { "x-amz-meta-media-type": mediaType } : {};
    objects.set(call.key, { bytes, etag, writtenMs: clock.monotonic(), headers, hiddenReads: reads, hiddenLists: lists });
    return { status: 200, headers: { etag } };
  }

  function list(query: URLSearchParams): Result {
    const [prefix, after, max] = [query.get("prefix") ?? "", query.get("start-after") ?? "", Number(query.get("max-keys") ?? 1_000)];
    const all = [...objects].filter(([key]) => key.startsWith(prefix) && key > after).sort(([a], [b]) => (a < b ? -1 : 1));
    const visible = all.filter(([, object]) => !(object.hiddenLists > 0 && object.hiddenLists--));
    const page = visible.slice(0, Math.min(max, 1_000));
    const contents = page.map(([key, { etag }]) => `<Contents><Key>${escapeXml(key)}</Key><ETag>${escapeXml(etag)}</ETag></Contents>`);
    const xml = `<ListBucketResult><IsTruncated>${visible.length > page.length}</IsTruncated>${contents.join("")}</ListBucketResult>`;
    return { status: 200, body: Buffer.from(xml) };
  }

  function answer(response: ServerResponse, { status, code, headers, body }: Result): void {
    const text = body ?? (code === undefined ? new Uint8Array() : Buffer.from(`<Error><Code>${code}</Code><Message>no</Message></Error>`));
    response.writeHead(status, { date: dateOf(clock.monotonic()), ...headers });
    response.end(response.req.method === "HEAD" ? undefined : text);
  }

  return fake;
}

interface Result {
  readonly status: number;
  readonly code?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array;
}

/** Whole seconds, as HTTP has them. */
function dateOf(monotonicMs: number): string {
  return new Date(1_767_225_600_000 + monotonicMs).toUTCString();
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
