import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createClient } from "@loopwright/client";
import { expect, onTestFinished, test } from "vitest";
import { type Artefact, filesIn, leaksIn } from "./canaries.ts";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

/** With characters that encodings change. */
const [ofUser, ofUserNext, ofVendor, ofBucket, token, internal] = [
  "sk-CANARY-user+q7/w==9",
  "sk-CANARY-next+k3/v==8",
  "sk-CANARY-vendor+0123/456",
  "sk-CANARY-bucket+0123/456",
  "CANARY-token-of-callers+0123/456",
  "CANARY-internal-token+0123/456",
];
const masterKey = Buffer.from("CANARY-master-key-of-32-bytes-01").toString("base64");
const secrets = [ofUser, ofUserNext, ofVendor, ofBucket, token, internal, masterKey];

/** What a vendor may do with the key that it was sent. */
interface VendorAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly location?: string;
  /** The connection is reset behind the body. */
  readonly isCut?: boolean;
}

const answers: { readonly [name: string]: (key: string) => VendorAnswer } = {
  "a refusal that repeats the key": (key) => ({
    ...{ status: 401, type: "application/json" },
    body: JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.`, code: "invalid_api_key" } }),
  }),
  "a server error that repeats the key": (key) => ({ status: 500, type: "text/plain", body: `boom ${key} boom` }),
  "a bad request that repeats the key in a URL": (key) => ({
    ...{ status: 400, type: "application/json" },
    body: JSON.stringify({ error: { message: `GET /v1?key=${encodeURIComponent(key)}` } }),
  }),
  "no JSON": (key) => ({ status: 200, type: "text/html", body: `<html>${key}</html>` }),
  "a redirect to an address with the key": (key) => ({
    status: 307,
    type: "text/plain",
    body: key,
    location: `/v1?key=${encodeURIComponent(key)}`,
  }),
  "an end in the middle of an answer": (key) => ({
    status: 200,
    type: "text/event-stream",
    body: `data: {"choices":[{"delta":{"content":"${key}`,
    isCut: true,
  }),
  "a cut before any answer": () => ({ status: 0, type: "", body: "", isCut: true }),
};

/** A model server of the user's own. */
async function vendor() {
  const keys = new Set<string>();
  let answer: (typeof answers)[string] | undefined;
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const key = (request.headers.authorization ?? "").replace("Bearer ", "");
    keys.add(key);
    const given = answer?.(key);
    if (given) {
      const location = given.location === undefined ? {} : { location: given.location };
      if (given.status > 0)
        response.writeHead(given.status, { "content-type": given.type, "x-echo": encodeURIComponent(key), ...location });
      if (!given.isCut) return void response.end(given.body);
      if (given.body === "") return void request.socket.destroy();
      return void response.write(given.body, () => request.socket.destroy());
    }
    response.setHeader("content-type", "text/event-stream");
    const chunk = (delta: object, end: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
    response.end(`${chunk({ content: "From your own model." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const answerWith = (next: (typeof answers)[string] | undefined): void => {
    answer = next;
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys, answerWith };
}

test("K05: keys and tokens of a server are in no answer, output, log, report of a crash, argument or file that it leaves, in no encoding", async () => {
  const { origin, keys, answerWith } = await vendor();
  const cwd = await emptyDirectory();
  const [reports, temporary] = [join(cwd, "reports"), join(cwd, "temporary")];
  for (const folder of [reports, temporary]) mkdirSync(folder);
  const env = {
    ...{ LOOPWRIGHT_TOKEN: token, LOOPWRIGHT_INTERNAL_TOKEN: internal, LOOPWRIGHT_MASTER_KEY: masterKey },
    ...{ OPENAI_API_KEY: ofVendor, AWS_SECRET_ACCESS_KEY: ofBucket, LOOPWRIGHT_OWN_KEYS_ORIGINS: origin, TMPDIR: temporary },
    NODE_OPTIONS: `--report-on-signal --report-on-fatalerror --report-uncaught-exception --report-directory=${reports}`,
  };
  const server = await startServer({ cwd, flags: ["--own-keys", "--telemetry", "--metrics", "--audit", "--dev-endpoints"], env });
  const artefacts: Artefact[] = [];
  const note = (name: string, text: string): void => void artefacts.push({ name, bytes: Buffer.from(text) });
  const client = createClient({
    ...{ url: server.url, token },
    fetch: async (request) => {
      const response = await fetch(request as Request);
      const text = await response.clone().text();
      note(`an answer of ${new URL((request as Request).url).pathname}`, `${JSON.stringify([...response.headers])}${text}`);
      return response;
    },
  });
  const line = async (words: readonly string[], input?: string): Promise<string> => {
    const given = input === undefined ? {} : { input };
    const ended = await run([...words, "--url", server.url], { cwd, env: { LOOPWRIGHT_TOKEN: token, TMPDIR: temporary }, ...given });
    note(`the output of ${words.join(" ")}`, ended.stdout + ended.stderr);
    return ended.stdout;
  };
  const added = await line(["providers", "add", "--vendor", "custom", "--model", "mine-1", "--base-url", `${origin}/v1`], `${ofUser}\n`);
  const id = added.split(" ")[0] ?? "";
  const ended = async (): Promise<string> => {
    const { status, text, error } = await client.execute("What is 6 * 7?", { context: {} }).result();
    note("the error of a run", JSON.stringify([status, text, error, error?.stack]));
    return status;
  };
  expect(await ended()).toBe("completed");
  for (const answer of Object.values(answers)) {
    answerWith(answer);
    expect(await ended()).toBe("error");
    await line(["providers", "test", id]);
  }
  answerWith(undefined);
  await line(["providers", "key", id], `${ofUserNext}\n`);
  expect(await ended()).toBe("completed");
  await line(["providers", "list", "--json"]);
  for (const path of [
    "api/sessions",
    "api/ai/providers",
    "api/settings",
    "metrics",
    "openapi.json",
    "healthz",
    "api/agents",
    "dev/ai-latency",
    "api/usage",
    "debug/heap",
    "heapdump",
  ])
    for (const given of [token, `${token}x`, internal, ""]) {
      const response = await fetch(new URL(path, server.url), { headers: { Authorization: `Bearer ${given}` } });
      note(`GET ${path}`, `${JSON.stringify([...response.headers])}${await response.text()}`);
    }
  // A report of the running process, as one is written when it crashes. It has a section of its variables unless it leaves them out.
  server.child.kill("SIGUSR2");
  await expect.poll(() => readdirSync(reports).length, { timeout: 30_000 }).toBeGreaterThan(0);
  await expect.poll(() => isWhole(join(reports, readdirSync(reports)[0] ?? "")), { timeout: 30_000 }).toBe(true);
  const cmdline = `/proc/${server.child.pid}/cmdline`;
  if (existsSync(cmdline)) note("its arguments", readFileSync(cmdline, "latin1"));
  server.child.kill("SIGKILL");
  const output = await server.ended;
  note("its output", output.stdout + output.stderr);
  const files = filesIn(cwd);
  expect([...keys].sort()).toEqual([ofUser, ofUserNext].sort());
  expect(files.map(({ name }) => name.split("/").at(-1))).toEqual(expect.arrayContaining(["secrets.db", "settings.db"]));
  expect(await leaksIn([...artefacts, ...files], secrets)).toEqual([]);
  expect(artefacts.length).toBeGreaterThan(40);
  expect(files.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeGreaterThan(50_000);
}, 180_000);

/** Whether the report is written to its end. */
function isWhole(path: string): boolean {
  try {
    return "header" in (JSON.parse(readFileSync(path, "utf8")) as object);
  } catch {
    return false;
  }
}

test("K05: the hunt sees each key, in a file too, and in what is compressed", async () => {
  const folder = await emptyDirectory();
  for (const secret of secrets) {
    const packed = Buffer.concat([Buffer.from("something in front of it"), gzipSync(`before ${secret} after`), Buffer.from("and behind")]);
    for (const bytes of [packed, Buffer.from(secret, "utf16le"), Buffer.from(JSON.stringify({ key: secret.slice(0, 12) }))])
      expect(await leaksIn([{ name: "it", bytes }], [secret])).toHaveLength(1);
  }
  for (const shift of [0, 1, 2]) {
    const text = Buffer.from(`${"x".repeat(shift)}Authorization: Bearer ${ofUser} and more`).toString("base64");
    writeFileSync(join(folder, `encoded-${shift}`), text);
  }
  expect(await leaksIn(filesIn(folder), [ofUser])).toHaveLength(3);
  expect(await leaksIn([{ name: "it", bytes: Buffer.from("nothing of it") }], secrets)).toEqual([]);
});
