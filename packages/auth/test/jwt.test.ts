import { type JwtOptions, jwtTokens, oidcTokens } from "@loopwright/auth";
import { createAgent } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { type Caller, createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { exportSPKI, importJWK, type JWTPayload, SignJWT } from "jose";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type IssuerKey, issuerKey, served } from "./issuer.ts";

const issuer = "https://issuer.example";
const clock = manualClock();
const agent = createAgent({ name: "helper", provider: scripted([]) });
const seconds = (): number => Math.floor(clock.now() / 1_000);
const caller: Caller = { isLocal: false, isExposed: true };
const bearing = (token: string): Request => new Request("http://localhost/api/sessions", { headers: { Authorization: `Bearer ${token}` } });
const claimsOf = (): JWTPayload => ({ iss: issuer, aud: "loopwright", sub: "anne", scope_id: "garden", exp: seconds() + 600 });

let key: IssuerKey;
beforeAll(async () => {
  key = await issuerKey("k1", claimsOf());
});
const tokens = (more: Partial<JwtOptions> = {}) => jwtTokens({ issuer, audience: "loopwright", keys: { keys: [key.jwk] }, clock, ...more });
const ask = async (token: string, more: Partial<JwtOptions> = {}) => tokens(more)(bearing(token), caller);

describe("a JWT", () => {
  it("names its user, scopes, roles and labels, and ends the credentials of the caller", async () => {
    const token = await key.sign({
      scope: "openid profile",
      scp: "read",
      scopes: ["write"],
      scope_ids: ["kitchen", "Not One"],
      roles: "admin writer",
      realm: { plan: "large" },
    });
    expect(await ask(token, { claims: { labels: { plan: ["realm", "plan"] } } })).toEqual({
      ...{ user: "anne", scope: "garden", roles: ["admin", "writer"], labels: { plan: "large" }, memberships: [{ scope: "kitchen" }] },
      expiresAt: (seconds() + 630) * 1_000,
    });
    expect(await ask(token, { principal: ({ sub }) => ({ user: `x-${String(sub)}`, scope: "own" }) })).toMatchObject({
      user: "x-anne",
      scope: "own",
    });
  });

  it("T03: without a scope leads to a principal without one, which may do nothing, unless the deployment names one", async () => {
    const token = await key.sign({ scope_id: undefined as never });
    expect(await ask(token)).toMatchObject({ user: "anne", scope: "" });
    expect(await ask(token, { scope: "garden" })).toMatchObject({ scope: "garden" });
    expect(await ask(await key.sign({ sub: "" }))).toBeUndefined();
  });

  it("takes no permission of OAuth for a tenant, whichever way it is asked", async () => {
    const token = await key.sign({ scope_id: undefined as never, scope: "openid profile", scp: ["read"], scopes: ["write"] });
    expect(await ask(token)).toEqual({ user: "anne", scope: "", expiresAt: expect.any(Number) });
    for (const claims of [{ scope: "scope" }, { scopes: "scope" }, { scope: "scp" }, { scopes: ["scp"] }])
      expect(() => tokens({ claims })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("permissions") }),
      );
  });

  it("T08: does not count with another algorithm, key, issuer, audience or time, nor with anything odd, and at a server its caller gets 401", async () => {
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const good = await key.sign();
    const [header = "", payload = "", signature = ""] = good.split(".");
    const forger = await issuerKey("k1", claimsOf());
    const spki = await exportSPKI((await importJWK(key.jwk, "RS256")) as Parameters<typeof exportSPKI>[0]);
    const withPublicKey = await new SignJWT(claimsOf())
      .setProtectedHeader({ alg: "HS256", kid: "k1" })
      .sign(new TextEncoder().encode(spki));
    const bad: { readonly [what: string]: string } = {
      "alg none": `${encode({ alg: "none" })}.${payload}.`,
      "alg none with a signature": `${encode({ alg: "none", kid: "k1" })}.${payload}.${signature}`,
      "HS256 with the public key": withPublicKey,
      "another key under the id": await forger.sign(),
      "a key of its own": await forger.sign({}, { kid: undefined, jwk: forger.jwk }),
      "an address of keys": await forger.sign({}, { jku: "http://127.0.0.1:1/keys", x5u: "http://127.0.0.1:1/cert" }),
      "an id that is a path": await forger.sign({}, { kid: "../../dev/null" }),
      "an id that is a query": await forger.sign({}, { kid: "' OR 1=1 --" }),
      "no end": await key.sign({ exp: undefined as never }),
      "an end that is over": await key.sign({ exp: seconds() - 31 }),
      "a beginning to come": await key.sign({ nbf: seconds() + 31 }),
      "another audience": await key.sign({ aud: "other" }),
      "another issuer": await key.sign({ iss: `${issuer}/` }),
      "an extension that is not known": await key.signOdd({ crit: ["odd"], odd: 1 }),
      "a critical extension that is not there": await key.signOdd({ crit: ["odd"] }),
      "an empty list of critical extensions": await key.signOdd({ crit: [] }),
      "a critical extension that is one of the format": await key.signOdd({ crit: ["alg"] }),
      "bytes behind it": `${good}.x`,
      "a sign behind it": `${good}=`,
      "two megabytes": `${header}.${"a".repeat(2_000_000)}.${signature}`,
      "half of it": good.slice(0, good.length / 2),
      "another payload": `${header}.${encode({ ...claimsOf(), sub: "ben" })}.${signature}`,
    };
    for (const [what, token] of Object.entries(bad))
      expect([what, await ask(token).catch((error: unknown) => error)]).toEqual([what, undefined]);
    expect(await ask(good)).toMatchObject({ user: "anne" });
    expect(await ask(await key.sign({ exp: seconds() - 29 }))).toMatchObject({ user: "anne" });
    const listening = await listen(
      createServer({ runtime: createRuntime({ agents: [agent], store: memoryStore(), clock }), authenticate: tokens() }),
    );
    onTestFinished(() => listening.close());
    const statusOf = async (token: string): Promise<number> => {
      const response = await fetch(new URL("api/sessions", listening.url), { headers: { Authorization: `Bearer ${token}` } });
      await response.body?.cancel();
      return response.status;
    };
    // The header of two megabytes is more than a request may have.
    for (const [what, token] of Object.entries(bad))
      expect([what, await statusOf(token)]).toEqual([what, what === "two megabytes" ? 431 : 401]);
    for (const right of [good, await key.signOdd({})]) expect(await statusOf(right)).toBe(200);
  });

  it("T08: has no address fetched that it names itself, and no key that it brings counts", async () => {
    const forger = await issuerKey("k1", claimsOf());
    const asked: string[] = [];
    const attacker = await served(({ url }, response) => {
      asked.push(url ?? "");
      response.end(JSON.stringify({ keys: [forger.jwk] }));
    });
    const real = await served((_, response) => void response.end(JSON.stringify({ keys: [key.jwk] })));
    const named = [{ jku: `${attacker}/jku` }, { x5u: `${attacker}/x5u` }, { kid: `${attacker}/kid` }, { jwk: forger.jwk }];
    for (const keys of [real, { keys: [key.jwk] }])
      for (const header of [...named, { kid: undefined, jku: `${attacker}/only` }])
        expect(await ask(await forger.sign({ iss: issuer }, header), { keys })).toBeUndefined();
    expect(await ask(await forger.sign({ iss: attacker }), { keys: real })).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("T08: does not count when a claim is there twice, although its signature is right", async () => {
    const { CompactSign, importPKCS8, exportPKCS8, generateKeyPair, exportJWK } = await import("jose");
    const pair = await generateKeyPair("RS256", { extractable: true });
    const signing = await importPKCS8(await exportPKCS8(pair.privateKey), "RS256");
    const text = (twice: string): string => JSON.stringify(claimsOf()).replace('"sub":"anne"', `"sub":"anne"${twice}`);
    const signed = (body: string): Promise<string> =>
      new CompactSign(new TextEncoder().encode(body)).setProtectedHeader({ alg: "RS256" }).sign(signing);
    const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), alg: "RS256" }] };
    expect(await ask(await signed(text("")), { keys })).toMatchObject({ user: "anne" });
    expect(await ask(await signed(text(',"sub":"ben"')), { keys })).toBeUndefined();
    expect(await ask(await signed(text(',"s\\u0075b":"ben"')), { keys })).toBeUndefined();
    expect(await ask(await signed(text(',"a":{"sub":"ben"}')), { keys })).toMatchObject({ user: "anne" });
  });

  it("is configured with public keys alone", () => {
    for (const more of [
      { algorithms: ["none" as never] },
      { algorithms: ["HS256" as never] },
      { algorithms: [] },
      { issuer: "" },
      { audience: [] },
      { clockSkewSeconds: 301 },
      { keys: "http://issuer.example/keys" },
      { keys: "https://user:pass@issuer.example/keys" },
    ])
      expect(() => tokens(more), JSON.stringify(more)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("T09: the keys of an issuer", () => {
  it("are fetched once for many tokens, again when a token names another, and no more than once in thirty seconds", async () => {
    const own = manualClock();
    const other = await issuerKey("k2", claimsOf());
    let known = [key.jwk];
    let asked = 0;
    const url = await served((_, response) => {
      asked += 1;
      response.end(JSON.stringify({ keys: known }));
    });
    const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: url, clock: own });
    const good = await key.sign({ exp: Math.floor(own.now() / 1_000) + 86_400 });
    const rotated = await other.sign({ exp: Math.floor(own.now() / 1_000) + 86_400 });
    await Promise.all(Array.from({ length: 50 }, () => authenticate(bearing(good), caller)));
    expect(asked).toBe(1);
    const forger = await (await issuerKey("k9", claimsOf())).sign();
    for (let at = 0; at < 50; at++) expect(await authenticate(bearing(forger), caller)).toBeUndefined();
    expect(asked).toBe(1);
    known = [key.jwk, other.jwk];
    await own.advance(30_000);
    expect(await authenticate(bearing(rotated), caller)).toMatchObject({ user: "anne" });
    expect(asked).toBe(2);
  });

  it("count for a day while their address is down, and without any there is no verdict, never a caller", async () => {
    const own = manualClock();
    let isDown = false;
    const url = await served((_, response) => {
      if (isDown) response.statusCode = 500;
      response.end(JSON.stringify({ keys: [key.jwk] }));
    });
    const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: url, clock: own });
    const token = await key.sign({ exp: Math.floor(own.now() / 1_000) + 10 * 86_400 });
    expect(await authenticate(bearing(token), caller)).toMatchObject({ user: "anne" });
    isDown = true;
    await own.advance(86_000_000);
    expect(await authenticate(bearing(token), caller)).toMatchObject({ user: "anne" });
    await own.advance(400_001);
    await expect(authenticate(bearing(token), caller)).rejects.toMatchObject({ code: "NOT_READY" });
  });

  it("count while their address does not answer, an unknown key is waited for three seconds, and so is the first answer", async () => {
    const own = manualClock();
    let [isSilent, asked] = [false, 0];
    const url = await served((_, response) => {
      asked += 1;
      if (!isSilent) response.end(JSON.stringify({ keys: [key.jwk] }));
    });
    const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: url, clock: own });
    const exp = Math.floor(own.now() / 1_000) + 86_400;
    const known = await key.sign({ exp });
    expect(await authenticate(bearing(known), caller)).toMatchObject({ user: "anne" });
    isSilent = true;
    await own.advance(600_000);
    // Newer keys are asked for meanwhile, and not waited for.
    expect(await authenticate(bearing(known), caller)).toMatchObject({ user: "anne" });
    await expect.poll(() => asked).toBe(2);
    const unknown = authenticate(bearing(await (await issuerKey("k9", claimsOf())).sign({ exp })), caller);
    await own.advance(3_000);
    expect(await unknown).toBeUndefined();
    const first = Promise.resolve(jwtTokens({ issuer, audience: "loopwright", keys: url, clock: own })(bearing(known), caller));
    first.catch(() => {});
    await expect.poll(() => asked).toBe(3);
    await own.advance(3_000);
    await expect(first).rejects.toMatchObject({ code: "NOT_READY" });
  });

  it.each([
    ["5,000 keys", JSON.stringify({ keys: Array.from({ length: 5_000 }, () => ({ kty: "RSA", n: "x", e: "AQAB" })) })],
    ["no keys", JSON.stringify({ keys: [] })],
    ["no JSON", "<html>"],
    ["a megabyte", "x".repeat(1_000_000)],
  ])("are not taken from an answer that is none: %s", async (_, body) => {
    const url = await served((__, response) => void response.end(body));
    const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: url, clock: manualClock() });
    await expect(authenticate(bearing(await key.sign()), caller)).rejects.toMatchObject({ code: "NOT_READY" });
  });

  it("that are shared secrets do not count, so that their readers cannot sign", async () => {
    const secret = new TextEncoder().encode("0123456789abcdef0123456789abcdef");
    const jwk = { kty: "oct", k: Buffer.from(secret).toString("base64url"), kid: "k1", alg: "HS256" };
    const url = await served((_, response) => void response.end(JSON.stringify({ keys: [jwk, key.jwk] })));
    const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: url, clock });
    const forged = await new SignJWT(claimsOf()).setProtectedHeader({ alg: "HS256", kid: "k1" }).sign(secret);
    expect(await authenticate(bearing(forged), caller)).toBeUndefined();
  });

  it("are found by discovery, at the provider that names itself as configured", async () => {
    let named: string | undefined;
    const url = await served(({ url: path }, response) => {
      const body = path === "/keys" ? { keys: [key.jwk] } : { issuer: named ?? url, jwks_uri: `${url}/keys` };
      response.end(JSON.stringify(body));
    });
    const token = await key.sign({ iss: url });
    expect(await oidcTokens({ issuer: url, audience: "loopwright", clock })(bearing(token), caller)).toMatchObject({ user: "anne" });
    named = "https://other.example";
    await expect(oidcTokens({ issuer: url, audience: "loopwright", clock })(bearing(token), caller)).rejects.toMatchObject({
      code: "NOT_READY",
    });
  });
});
