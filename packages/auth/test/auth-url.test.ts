import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type AuthUrlOptions, authUrl } from "@loopwright/auth";
import { manualClock } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import type { Caller } from "@loopwright/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { served } from "./issuer.ts";

const caller: Caller = { isLocal: false, isExposed: true };
const token = "token-canary-0123456789";
const plainSet = Map.prototype.set;
const bearing = (text: string): Request => new Request("http://localhost/", { headers: { Authorization: `Bearer ${text}` } });
const anne = JSON.stringify({ user: "anne", scope: "garden" });

interface Verifier {
  readonly url: string;
  readonly asked: string[];
  answer: (response: ServerResponse) => void;
}

async function verifier(): Promise<Verifier> {
  const asked: string[] = [];
  const made = { asked, answer: (response: ServerResponse) => void response.end(anne), url: "" };
  made.url = await served(({ headers }, response) => {
    asked.push(headers.authorization ?? "");
    made.answer(response);
  });
  return made;
}

/** On a clock that stands, so that deadlines come when the test wants them. */
function asking(url: string, more: Partial<AuthUrlOptions> = {}) {
  const logged: string[] = [];
  const logger: Logger = { log: (...line) => void logged.push(JSON.stringify(line)) };
  const clock = manualClock();
  const authenticate = authUrl({ url, clock, logger, ...more });
  return { clock, logged, ask: async (text = token) => authenticate(bearing(text), caller) };
}

describe("C48: a service that checks tokens", () => {
  it("gets the bearer token of each request, and 200 with a principal lets its caller in", async () => {
    const service = await verifier();
    service.answer = (response) =>
      void response.end(
        JSON.stringify({
          user: "anne",
          scope: "garden",
          roles: ["admin"],
          trusted: true,
          memberships: [{ scope: "kitchen", roles: ["viewer"] }, "bar"],
        }),
      );
    const { ask } = asking(service.url);
    expect(await ask()).toEqual({
      ...{ user: "anne", scope: "garden", roles: ["admin"] },
      memberships: [{ scope: "kitchen", roles: ["viewer"] }, { scope: "bar" }],
    });
    await ask();
    expect(service.asked).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
  });

  it("refuses with 401, 403 or `active: false`, and a request without a token is not asked about", async () => {
    const service = await verifier();
    const { ask, logged } = asking(service.url);
    for (const status of [401, 403]) {
      service.answer = (response) => void response.writeHead(status).end();
      expect(await ask()).toBeUndefined();
    }
    service.answer = (response) => void response.end('{"active":false,"user":"anne","scope":"garden"}');
    expect(await ask()).toBeUndefined();
    expect(await authUrl({ url: service.url })(new Request("http://localhost/"), caller)).toBeUndefined();
    expect([service.asked.length, logged]).toEqual([3, []]);
  });

  it.each<readonly [string, (response: ServerResponse) => void]>([
    ["500", (response) => void response.writeHead(500).end(anne)],
    ["302", (response) => void response.writeHead(302, { Location: "/elsewhere" }).end(anne)],
    ["204", (response) => void response.writeHead(204).end()],
    ["200 with nothing", (response) => void response.end()],
    ["200 with no JSON", (response) => void response.end("<html>")],
    ["200 without a user", (response) => void response.end('{"scope":"garden"}')],
    ["200 with ten megabytes", (response) => void response.end(`{"user":"anne","scope":"garden","x":"${"x".repeat(10_000_000)}"}`)],
    ["a cut", (response) => void response.destroy()],
  ])("T10: gives no verdict and so lets no caller in: %s", async (_, answer) => {
    const service = await verifier();
    service.answer = answer;
    const { ask, logged } = asking(service.url);
    await expect(ask()).rejects.toMatchObject({ code: "NOT_READY", retryable: true });
    expect([logged.length, service.asked.length]).toEqual([1, 1]);
    expect(logged.join()).not.toContain(token);
  });

  it.each<readonly [string, (response: ServerResponse) => void]>([
    ["silence", () => {}],
    ["headers, and then silence", (response) => response.writeHead(200, { "content-type": "application/json" }).flushHeaders()],
    ["an answer that never comes to its end", (response) => void response.write(anne.slice(0, -1))],
  ])("T10: has two seconds of its own for all of its answer; %s lets no caller in", async (_, answerSlowly) => {
    const service = await verifier();
    service.answer = answerSlowly;
    const { ask, clock } = asking(service.url);
    const answer = ask();
    answer.catch(() => {});
    await expect.poll(() => service.asked.length).toBe(1);
    await clock.advance(2_000);
    await expect(answer).rejects.toMatchObject({ code: "NOT_READY", retryable: true });
  });

  it("T10: is asked over TLS or on this machine alone, and what is kept of a verdict is under a digest of its token", async () => {
    const service = await verifier();
    const { ask } = asking(service.url, { cacheMs: 60_000 });
    const keys = new Set<unknown>();
    const kept = vi.spyOn(Map.prototype, "set").mockImplementation(function (this: Map<unknown, unknown>, key, value) {
      keys.add(key);
      return plainSet.call(this, key, value);
    });
    onTestFinished(() => kept.mockRestore());
    for (const text of [token, `${token}x`]) await ask(text);
    kept.mockRestore();
    const digest = createHash("sha256").update(token).digest();
    const texts = [...keys].filter((key) => typeof key === "string");
    expect(texts.some((text) => [digest.toString("hex"), digest.toString("base64"), digest.toString("base64url")].includes(text))).toBe(
      true,
    );
    expect(texts.join()).not.toContain(token);
  });

  it("T10: gets equal tokens that come at once in one request, and each caller has its own verdict", async () => {
    const service = await verifier();
    const released = Promise.withResolvers<void>();
    service.answer = async (response) => {
      await released.promise;
      response.end(JSON.stringify({ user: `user-${service.asked.length}`, scope: "garden" }));
    };
    const { ask } = asking(service.url);
    const asks = Array.from({ length: 1_000 }, () => ask());
    // Each caller first has a digest of its token made on a thread. These digests stand behind them in the same queue.
    await Promise.all(Array.from({ length: 1_000 }, () => crypto.subtle.digest("SHA-256", new Uint8Array(32))));
    await expect.poll(() => service.asked.length).toBe(1);
    released.resolve();
    const answers = await Promise.all(asks);
    expect([service.asked.length, new Set(answers.map((one) => one?.user)).size]).toEqual([1, 1]);
    expect(await ask()).toMatchObject({ user: "user-2" });
    const [one, two] = await Promise.all([ask("token-of-one-0123456789"), ask("token-of-two-0123456789")]);
    expect(one?.user).not.toBe(two?.user);
  });

  it("T10: keeps a verdict for as long as it is configured, refusals for five seconds, and never beyond the end of the credentials", async () => {
    const service = await verifier();
    const { ask, clock } = asking(service.url, { cacheMs: 60_000 });
    const askedAfter = async (ms: number): Promise<number> => {
      await clock.advance(ms);
      await ask().catch(() => {});
      return service.asked.length;
    };
    expect([await askedAfter(0), await askedAfter(59_999), await askedAfter(1)]).toEqual([1, 1, 2]);
    service.answer = (response) => void response.writeHead(401).end();
    expect([await askedAfter(60_000), await askedAfter(4_999), await askedAfter(1)]).toEqual([3, 3, 4]);
    service.answer = (response) => void response.end(JSON.stringify({ user: "anne", scope: "garden", expiresAt: clock.now() + 1_000 }));
    expect([await askedAfter(5_000), await askedAfter(999), await askedAfter(1)]).toEqual([5, 5, 6]);
  });

  it("T10: is spared while it fails: asked once in five seconds, and again for each request once it answers", async () => {
    const service = await verifier();
    service.answer = (response) => void response.writeHead(500).end();
    const { ask, clock } = asking(service.url);
    for (let at = 0; at < 20; at++) await expect(ask()).rejects.toMatchObject({ code: "NOT_READY" });
    expect(service.asked).toHaveLength(5);
    await clock.advance(5_000);
    service.answer = (response) => void response.end(anne);
    for (let at = 0; at < 3; at++) expect(await ask()).toMatchObject({ user: "anne" });
    expect(service.asked).toHaveLength(8);
  });

  it("needs TLS, except on this machine", () => {
    for (const url of [
      "http://verdicts.example/",
      "ftp://127.0.0.1/",
      "https://user:pass@verdicts.example/",
      "verdicts",
      "http://127.0.0.1.evil.example/",
    ])
      expect(() => authUrl({ url }), url).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => authUrl({ url: "https://verdicts.example/", cacheMs: 60_001 })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});
