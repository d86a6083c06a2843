import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { createClient } from "@loopwright/client";
import type { Logger } from "@loopwright/core/ports";
import { masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { sqliteSecrets } from "@loopwright/secrets/node";
import { sqliteStore } from "@loopwright/store-sqlite";
import { canaryScanner } from "@loopwright/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteRecords } from "../src/node/index.ts";
import { deployment, type FakeVendor, fakeVendor, platformKey, refuseKey, sayOk } from "./deployment.ts";

/** With characters that encodings change. */
const canaries = ["sk-CANARY-q7+w/z==9:first", "sk-CANARY-k3+v/y==8:second", platformKey];

/** So much of a key is already too much. */
const shownMax = 12;
const scanner = canaryScanner(canaries.map((text) => ({ name: text, text, partMin: shownMax })));

/** One sentence for each key in each form. */
async function leaksIn(places: readonly (string | Uint8Array)[]): Promise<readonly string[]> {
  const finds = await Promise.all(places.map((place) => scanner.find(place)));
  return finds.flatMap((some, at) => some.map(({ canary, form }) => `${canary} as ${form} in ${String(places[at]).slice(0, 200)}`));
}

let vendor: FakeVendor;
let folder: string;
beforeEach(async () => {
  vendor = await fakeVendor();
  folder = mkdtempSync(join(tmpdir(), "loopwright-canary-"));
});
afterEach(async () => {
  await vendor.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a vendor may do with the key that it was sent. */
const answers: { readonly [name: string]: FakeVendor["answer"] } = {
  "a good answer": sayOk,
  "a refusal that repeats the key": refuseKey,
  "a server error that repeats the key in its body and a header": ({ authorization = "" }, response) =>
    void response.writeHead(500, { "x-echo": authorization, "content-type": "text/plain" }).end(`boom ${authorization} boom`),
  "a wait that repeats the key": ({ authorization }, response) =>
    void response
      .writeHead(429, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: `Quota of ${authorization}` } })),
  "a stream that is cut": (_, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "half" }, finish_reason: null }] })}\n\n`, () =>
      response.destroy(),
    );
  },
  "an error in the stream that repeats the key": ({ authorization }, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.end(`data: ${JSON.stringify({ error: { message: `Bad ${authorization}`, code: "invalid_api_key" } })}\n\n`);
  },
  "JSON that breaks in the middle of the key": ({ authorization = "" }, response) => {
    response.setHeader("content-type", "application/json");
    response.end(`{"error": {"message": "${authorization.slice(0, 24)}`);
  },
  "a page of HTML with the key": ({ authorization }, response) =>
    void response.setHeader("content-type", "text/html").end(`<html>${authorization}`),
  "a redirect with the key in it": ({ authorization = "" }, response) =>
    void response.writeHead(302, { location: `/elsewhere?key=${encodeURIComponent(authorization)}` }).end(),
  "no answer": (_, response) => void response.destroy(),
  "calls of a tool that throws": (call, response) => {
    if (vendor.calls.filter(({ model }) => model === call.model).length % 2 === 0) return sayOk(call, response);
    response.setHeader("content-type", "text/event-stream");
    const tool_calls = [{ index: 0, id: "c1", type: "function", function: { name: "fails", arguments: "{}" } }];
    const chunk = (delta: object, end: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
    response.end(`${chunk({ tool_calls }, null)}${chunk({}, "tool_calls")}data: [DONE]\n\n`);
  },
};

describe("the keys of users and of the deployment", () => {
  it("A57, K05: are in no answer, stream, log line, metric, error, fact, snapshot or file, in no form, but encrypted", async () => {
    const seen: string[] = [];
    const logger: Logger = { log: (...line) => void seen.push(inspect(line, { depth: 20, showHidden: true }), JSON.stringify(line)) };
    const keys = masterKeys(await masterKeyOf(newMasterKey()));
    const secrets = sqliteSecrets({ path: join(folder, "secrets.db"), keys });
    const records = sqliteRecords({ path: join(folder, "settings.db") });
    const store = sqliteStore({ path: join(folder, "sessions.db") });
    const { call, server } = deployment(vendor, { secrets, records, store, logger, allowsPrivate: true });
    const noted = async (...request: Parameters<typeof call>) => {
      const answer = await call(...request);
      seen.push(answer.text, answer.headers);
      return answer;
    };
    /** A client whose every received byte is noted. */
    const client = (user: string) =>
      createClient({
        url: "http://settings.test",
        headers: { "x-user": user },
        fetch: async (request) => {
          const response = await server.fetch(request as Request);
          seen.push(JSON.stringify([...response.headers]));
          const decoder = new TextDecoder();
          const noting = new TransformStream<Uint8Array, Uint8Array>({
            transform(bytes, out) {
              seen.push(decoder.decode(bytes, { stream: true }));
              out.enqueue(bytes);
            },
          });
          return new Response(response.body?.pipeThrough(noting) ?? null, response);
        },
      });
    const [first = "", second = ""] = canaries;
    const mine = { providerId: "vendor", model: "small", displayName: "Mine", key: first };
    for (const wrong of [
      { ...mine, providerId: "none" },
      { ...mine, model: 7 },
      { ...mine, key: `${first} x` },
      { ...mine, [first]: 1 },
      { key: [first] },
    ])
      expect((await noted("anne", "POST", "/api/ai/providers", wrong)).status).toBe(400);
    const { json: made } = await noted("anne", "POST", "/api/ai/providers", mine);
    const path = `/api/ai/providers/${made.instanceId}`;
    const ends: string[] = [];
    for (const [name, answer] of Object.entries(answers)) {
      vendor.answer = answer;
      await noted("anne", "POST", `${path}/test`);
      for (const user of ["anne", "ben"]) {
        const stream = client(user).execute("Hi.");
        const { status, error } = await stream.result();
        ends.push(`${name}: ${user} ${status} ${error?.code ?? ""}`);
        seen.push(JSON.stringify({ error }), inspect(error, { depth: 20, showHidden: true }));
        await noted(user, "GET", `/api/sessions/${stream.sessionId}`);
      }
    }
    vendor.answer = sayOk;
    await noted("anne", "PATCH", path, { baseUrl: "http://10.0.0.1/", key: second });
    await noted("anne", "PATCH", path, { key: second, baseUrl: vendor.url });
    expect((await client("anne").execute("Hi.").result()).text).toBe("ok");
    for (const route of [
      "/api/ai/providers",
      path,
      "/api/settings",
      "/api/sessions",
      "/metrics",
      "/openapi.json",
      "/api/agents",
      "/healthz",
    ])
      await noted("anne", "GET", route);
    // Both keys were used, so that there was something to be seen.
    const sent = new Set(vendor.calls.map(({ authorization }) => authorization));
    expect(sent).toEqual(new Set(canaries.map((key) => `Bearer ${key}`)));
    expect(ends.filter((end) => end.includes("completed"))).toHaveLength(4);
    expect(await leaksIn(seen)).toEqual([]);
    seen.length = 0;
    await server.close();
    await store.close();
    const files = (): readonly Buffer[] => readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    expect(Buffer.concat(files()).length).toBeGreaterThan(50_000);
    expect(await leaksIn(files())).toEqual([]);
    await noted("anne", "GET", path).catch(() => undefined);
    secrets.close();
    records.close();
    expect(await leaksIn([...seen, ...files(), JSON.stringify(process.env), JSON.stringify([process.argv, process.execArgv])])).toEqual([]);
  });

  it("A57: would be found: the scan sees a key where it may stand", async () => {
    const [key = ""] = canaries;
    for (const shown of [
      new Error(`Bad key ${key}`).stack ?? "",
      `?key=${encodeURIComponent(key)}`,
      Buffer.from(`Authorization: Bearer ${key}`).toString("base64"),
      Buffer.from(key, "utf16le"),
      `${key.slice(0, shownMax)}...`,
    ])
      expect(await leaksIn([shown])).not.toEqual([]);
  });
});
