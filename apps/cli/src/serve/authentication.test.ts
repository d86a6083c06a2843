import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { a2aRoutes } from "@loopwright/protocol-a2a";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AuthFlags, authSettings } from "./auth-settings.ts";
import { type Authentication, authentication } from "./authentication.ts";

const [operator, internal] = ["operator-0123456789abcdef", "internal-0123456789abcdef"];

/** A service that lets in `anne` and `ben`, and counts what it is asked; `end` makes it unreachable. */
async function verifier(): Promise<{ readonly url: string; readonly asked: string[]; end(): Promise<void> }> {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    const user = /^Bearer (anne|ben)$/.exec(request.headers.authorization ?? "")?.[1];
    asked.push(request.headers.authorization ?? "");
    response.writeHead(user === undefined ? 401 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ user }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  onTestFinished(end);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`, asked, end };
}

const authenticationOf = (flags: AuthFlags & { readonly token?: string }, store = memoryStore()): Promise<Authentication> =>
  authentication({ wishes: { token: flags.token, auth: authSettings(flags) }, store, logger: silentLogger });

/** A server with these flags; returns the status of a request, and its body. */
async function served(flags: AuthFlags & { readonly token?: string }) {
  const store = memoryStore();
  const agent = createAgent({ name: "helper", provider: scripted(() => ({ text: "Hello." })) });
  const server = createServer({
    runtime: createRuntime({ agents: [agent], store }),
    routes: a2aRoutes(),
    ...(await authenticationOf(flags, store)),
  });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  return async (path: string, token?: string, json?: object, more: Record<string, string> = {}) => {
    const headers = { ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }), "Content-Type": "application/json", ...more };
    const response = await fetch(new URL(path, url), json ? { method: "POST", headers, body: JSON.stringify(json) } : { headers });
    return { status: response.status, text: await response.text() };
  };
}

describe("callers of a server", () => {
  test("C48: are let in by the verdict of the service on each request, and by no other answer", async () => {
    const { url, asked, end } = await verifier();
    const ask = await served({ authUrl: url, authScope: "team" });
    expect((await ask("/api/access", "anne")).status).toBe(200);
    expect((await ask("/api/access", "anne")).status).toBe(200);
    expect((await ask("/api/access", "carl")).status).toBe(401);
    expect((await ask("/api/access")).status).toBe(401);
    expect(asked).toEqual(["Bearer anne", "Bearer anne", "Bearer carl"]);
    await end();
    const refused = await ask("/api/access", "anne");
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining("gave no verdict") });
  });

  test("C49: with a token of this server are let in without the service, which never gets it; a wrong one is refused", async () => {
    const { url, asked, end } = await verifier();
    const ask = await served({ authUrl: url, internalToken: internal, token: operator });
    await end();
    expect(await ask("/api/access", internal, undefined, { "X-Scope": "team" })).toMatchObject({
      status: 200,
      text: expect.stringContaining('"scope":"team"'),
    });
    expect((await ask("/metrics", operator)).status).toBe(200);
    expect((await ask("/api/access", `${internal}x`)).status).toBe(503);
    expect(asked).toEqual([]);
    const alone = await served({ internalToken: internal });
    expect((await alone("/api/access", `${internal}x`)).status).toBe(401);
    expect((await alone("/api/access", internal, undefined, { "X-Forwarded-For": "192.0.2.1" })).status).toBe(401);
    // The page of the person at this machine needs no token because services have one.
    expect(await alone("/api/access")).toMatchObject({ status: 200, text: expect.stringContaining('"user":"local"') });
    expect((await alone("/api/access", undefined, undefined, { "X-Forwarded-For": "192.0.2.1" })).status).toBe(401);
    expect((await alone("/api/access", undefined, undefined, { Via: "1.1 proxy" })).status).toBe(401);
  });

  test("C49, C50: reach agents by A2A with a token of this server while the service is down, and with no other one", async () => {
    const { url, asked, end } = await verifier();
    const ask = await served({ authUrl: url, authScope: "team", internalToken: internal });
    const message = { messageId: "from-slack-1", role: "ROLE_USER", parts: [{ text: "Hello" }] };
    const send = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
    const version = { "A2A-Version": "1.0" };
    expect((await ask("/a2a", "anne", send, version)).status).toBe(200);
    await end();
    const answered = await ask("/a2a", internal, send, { ...version, "X-Scope": "team" });
    expect(answered.status).toBe(200);
    expect(JSON.parse(answered.text)).toMatchObject({
      result: { task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "Hello." }] }] } },
    });
    expect([(await ask("/a2a", `${internal}x`, send, version)).status, (await ask("/a2a", undefined, send, version)).status]).toEqual([
      503, 401,
    ]);
    expect(asked).toEqual(["Bearer anne"]);
  });

  test("may do nothing without a scope, and see what they opened or `--unshared` shows", async () => {
    const { url } = await verifier();
    expect((await (await served({ authUrl: url }))("/api/sessions", "anne")).status).toBe(403);
    const seen = async (more: AuthFlags): Promise<readonly number[]> => {
      const ask = await served({ authUrl: url, authScope: "team", ...more });
      expect((await ask("/api/sessions", "anne", { id: "annes" })).status).toBe(201);
      return [(await ask("/api/sessions/annes", "anne")).status, (await ask("/api/sessions/annes", "ben")).status];
    };
    expect([await seen({}), await seen({ unshared: "viewer" })]).toEqual([
      [200, 404],
      [200, 200],
    ]);
  });

  test("need no credentials where no flag asks for them", async () => {
    expect(await authenticationOf({})).toEqual({});
  });

  test("cannot be checked with bad settings, which are refused before the server begins", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keys-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = async (name: string, content: string): Promise<string> => {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    };
    const issuer = { jwtIssuer: "https://issuer.example", jwtAudience: "loopwright" };
    const refused: readonly (readonly [AuthFlags & { readonly token?: string }, RegExp])[] = [
      [{ authUrl: "http://verdicts.example" }, /neither `https:` nor on this machine/],
      [{ authUrl: "verdicts" }, /neither `https:` nor on this machine/],
      [{ jwtIssuer: "http://issuer.example", jwtAudience: "a" }, /`issuer` is neither/],
      [{ ...issuer, jwtAlgorithms: "HS256" }, /not a signature with a public key/],
      [{ ...issuer, jwtAlgorithms: "none" }, /not a signature with a public key/],
      [{ ...issuer, jwtKeys: "http://issuer.example/keys" }, /address of the keys/],
      [{ ...issuer, jwtKeys: join(folder, "absent.json") }, /cannot be read/],
      [{ ...issuer, jwtKeys: await file("text.json", "keys") }, /is no JSON/],
      [{ ...issuer, jwtKeys: await file("empty.json", "{}") }, /has no `keys`/],
      [{ ...issuer, jwtKeys: await file("private.json", '{"keys":[{"kty":"EC","d":"secret"}]}') }, /holds a key that is not public/],
      [{ internalToken: internal, token: internal }, /are the same text/],
    ];
    for (const [flags, message] of refused) {
      const error = await authenticationOf(flags).catch((thrown: unknown) => thrown);
      expect(error, JSON.stringify(flags)).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(message) });
      expect(JSON.stringify(error)).not.toContain("secret");
    }
    const keys = await file("public.json", '{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"k"}]}');
    expect(await authenticationOf({ ...issuer, jwtKeys: keys })).toHaveProperty("authenticate");
  });
});
