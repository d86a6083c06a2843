import { spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, crc32, deflateRawSync } from "node:zlib";

const mebibyte = 1024 * 1024;

interface Hostile {
  readonly status: number;
  readonly contentType: string;
  readonly head: string;
  /** The whole body compressed, 300 KB for 300 MiB. */
  readonly gzip?: boolean;
  /** Codes that are right. */
  readonly codes: readonly string[];
}

const page = { status: 502, contentType: "text/html", head: "<html>", codes: ["MODEL_OVERLOADED"] };
const whole = { status: 200, contentType: "application/json", head: '{"a":"', codes: ["MODEL_PROTOCOL"] };
const event = { status: 200, contentType: "text/event-stream", head: 'data: {"a":"', codes: ["MODEL_PROTOCOL"] };

/** Bodies that end a process whose provider reads them whole. */
const hostileBodies: { readonly [name: string]: Hostile } = {
  "an error page of 300 MiB": page,
  "an error page of 300 KB that is 300 MiB": { ...page, gzip: true },
  "JSON of 300 MiB in place of a stream": whole,
  "JSON of 300 KB that is 300 MiB": { ...whole, gzip: true },
  "an event of 300 MiB": event,
  "an event of 300 KB that is 300 MiB": { ...event, gzip: true },
};

/** Heap of the process that reads them. */
const heapMb = 128;

export interface HostileReport {
  readonly calls: number;
  /** Sentences; empty when every call failed as it should and the process lived. */
  readonly flaws: readonly string[];
  /** The most memory that the process had, in MiB. */
  readonly peakMb: number;
}

/**
 * Reads each hostile body over the global `fetch` and over `nodeHttp()`, all in one process with a heap of 128 MB, and reports what became of it.
 * `module` is a TypeScript or JavaScript file that exports `make(origin, transport?)`: a provider that talks to that origin.
 */
export async function tryHostileBodies(module: URL): Promise<HostileReport> {
  const server = createServer((request, response) => {
    const body = hostileBodies[decodeURIComponent(request.url?.split("/")[1] ?? "")];
    request.resume();
    request.once("end", () => (body === undefined ? response.writeHead(404).end() : say(body, response)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await readInChild(module, origin);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const sizeBytes = 300 * mebibyte;
const piece: Buffer = Buffer.alloc(mebibyte, "x");

function say({ status, contentType, head, gzip }: Hostile, response: ServerResponse): void {
  response.on("error", () => undefined);
  response.writeHead(status, { "content-type": contentType, ...(gzip ? { "content-encoding": "gzip" } : {}) });
  if (gzip) {
    response.end(gzipBomb(head));
    return;
  }
  let left = sizeBytes;
  const write = (): void => {
    for (; left > 0; left -= piece.length) {
      if (!response.write(piece)) return void response.once("drain", write);
    }
    response.end();
  };
  response.write(head);
  write();
}

/** `head` and `sizeBytes` of `x` compressed. One piece is compressed and repeated: all of it would take seconds. */
function gzipBomb(head: string): Buffer {
  const pieces = sizeBytes / piece.length;
  const unended = { finishFlush: constants.Z_FULL_FLUSH };
  const start = Buffer.from(head);
  let checksum = crc32(start);
  for (let index = 0; index < pieces; index++) checksum = crc32(piece, checksum);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(start.length + sizeBytes, 4);
  const repeated = Array.from({ length: pieces }).fill(deflateRawSync(piece, unended)) as Buffer[];
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  return Buffer.concat([header, deflateRawSync(start, unended), ...repeated, deflateRawSync(Buffer.alloc(0)), trailer]);
}

async function readInChild(module: URL, origin: string): Promise<HostileReport> {
  const script = `
    const { make } = await import(process.argv[1]);
    const { nodeHttp } = await import("@loopwright/provider-kit/node");
    for (const name of ${JSON.stringify(Object.keys(hostileBodies))}) {
      for (const over of ["global fetch", "nodeHttp()"]) {
        const provider = make(process.argv[2] + "/" + encodeURIComponent(name), over === "nodeHttp()" ? nodeHttp({ proxy: false }) : undefined);
        const request = { model: provider.defaultModel || "m", messages: [{ role: "user", content: "Say something." }] };
        let code = "none";
        try {
          for await (const _ of provider.stream(request, { signal: new AbortController().signal, attempt: 1 }));
        } catch (error) {
          code = String(error.code);
        }
        console.log(JSON.stringify({ name, over, code }));
      }
    }
    console.log(JSON.stringify({ peakMb: Math.round(process.resourceUsage().maxRSS / 1024) }));
  `;
  const flags = [`--max-old-space-size=${heapMb}`, "--conditions=@loopwright/source", "--no-warnings", "--input-type=module"];
  const child = spawn(process.execPath, [...flags, "-e", script, module.href, origin], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: new URL("../..", import.meta.url),
  });
  let written = "";
  let complaints = "";
  child.stdout.on("data", (bytes) => (written += String(bytes)));
  child.stderr.on("data", (bytes) => (complaints += String(bytes)));
  const exit = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return reportOf(written, exit, complaints);
}

function reportOf(written: string, exit: number | null, complaints: string): HostileReport {
  const lines = written
    .split("\n")
    .filter((line) => line !== "")
    .map(
      (line) => JSON.parse(line) as { readonly name?: string; readonly over?: string; readonly code?: string; readonly peakMb?: number },
    );
  const calls = lines.filter(({ name }) => name !== undefined);
  const flaws = calls.flatMap(({ name = "", over, code = "" }) =>
    hostileBodies[name]?.codes.includes(code) ? [] : [`${name} over ${over} ended with ${code}.`],
  );
  const wanted = Object.keys(hostileBodies).length * 2;
  const last = calls.at(-1);
  if (calls.length < wanted || exit !== 0)
    flaws.push(`The process ended with ${exit} after ${last ? `${last.name} over ${last.over}` : "nothing"}: ${complaints.slice(0, 500)}`);
  return { calls: calls.length, flaws, peakMb: lines.at(-1)?.peakMb ?? 0 };
}
