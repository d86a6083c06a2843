import { anyOf, developmentTokens, internalTokens } from "@loopwright/auth";
import { AgentError, createAgent } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { type Authenticate, bearerTokens, type Caller, createServer } from "@loopwright/server";
import { describe, expect, it } from "vitest";

const here: Caller = { isLocal: true, isExposed: false };
const elsewhere: Caller = { isLocal: false, isExposed: true };
const bearing = (token: string, headers: Record<string, string> = {}): Request =>
  new Request("http://localhost/", { headers: { Authorization: `Bearer ${token}`, ...headers } });
const secret = "internal-0123456789abcdef";

describe("T11: an internal token", () => {
  const authenticate = internalTokens({ [secret]: { user: "jobs", scope: "system" } });

  it("is that of a service of every scope, for callers of this machine alone", async () => {
    expect(await authenticate(bearing(secret), here)).toEqual({
      ...{ user: "jobs", scope: "system", roles: ["service"], trusted: true, memberships: "any" },
    });
    const refused = { code: "UNAUTHENTICATED", message: expect.not.stringContaining(secret) };
    await expect(authenticate(bearing(secret), elsewhere)).rejects.toMatchObject(refused);
    for (const header of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
      await expect(authenticate(bearing(secret, { [header]: "127.0.0.1" }), here)).rejects.toMatchObject(refused);
    await expect(authenticate(bearing(secret, { "X-Forwarded-For": "127.0.0.1" }), elsewhere)).rejects.toMatchObject(refused);
  });

  it("is shown to no other authenticator, also where it does not count", async () => {
    let asked = 0;
    const both = anyOf([authenticate, () => void asked++]);
    await expect(both(bearing(secret), elsewhere)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(asked).toBe(0);
    expect(await both(bearing("another-0123456789abcdef"), elsewhere)).toBeUndefined();
    expect(asked).toBe(1);
  });

  it("acts for the user that the service names, with nothing of the service's own rights", async () => {
    const acting = (headers: Record<string, string>): unknown => authenticate(bearing(secret, headers), here);
    expect(await acting({ "X-Act-For": encodeURIComponent("änne@garden"), "X-Scope": "garden" })).toEqual({
      user: "änne@garden",
      scope: "garden",
    });
    expect(await acting({ "X-Act-For": "anne" })).toEqual({ user: "anne", scope: "system" });
    for (const headers of [
      { "X-Act-For": "" },
      { "X-Act-For": "%E0%A4%A" },
      { "X-Act-For": "a b" },
      { "X-Act-For": "anne", "X-Scope": "../x" },
    ])
      await expect(acting(headers)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await authenticate(bearing("another-0123456789abcdef", { "X-Act-For": "anne" }), here)).toBeUndefined();
  });

  it("is not had by a part of it or a longer one, and must be long", async () => {
    for (const guess of [secret.slice(0, -1), secret.slice(1), `${secret}x`, secret.toUpperCase(), ""])
      expect(await authenticate(bearing(guess), here)).toBeUndefined();
    expect(() => internalTokens({ short: { user: "jobs", scope: "system" } })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("is not found by two thousand guesses, and a server lets a guesser try as often as one caller may ask in a minute", async () => {
    const random = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url");
    let known = 0;
    for (let guess = 0; guess < 2_000; guess++) if ((await authenticate(bearing(`internal-${random()}`), here)) !== undefined) known++;
    expect(known).toBe(0);
    const agent = createAgent({ name: "helper", provider: scripted([]) });
    const limits = { requestsPerMinute: 50 };
    const server = createServer({
      runtime: createRuntime({ agents: [agent], store: memoryStore(), clock: manualClock() }),
      authenticate,
      limits,
    });
    const caller = { remoteAddress: "127.0.0.1" };
    const statusOf = async (given: string): Promise<number> =>
      (await server.fetch(new Request("http://localhost/api/sessions", { headers: { Authorization: `Bearer ${given}` } }), caller)).status;
    const statuses: number[] = [];
    for (let guess = 0; guess < 1_000; guess++) statuses.push(await statusOf(random()));
    expect([401, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([50, 950]);
    // The service itself is counted by itself, and asked for its token in the header alone.
    expect(await statusOf(secret)).toBe(200);
    expect((await server.fetch(new Request(`http://localhost/api/sessions?token=${secret}`), caller)).status).not.toBe(200);
    await server.close();
  });

  it("may be let in from elsewhere by a rule of the deployment", async () => {
    const open = internalTokens(
      { [secret]: { user: "jobs", scope: "system" } },
      { from: (_, { headers }) => headers.get("X-Mesh") === "yes" },
    );
    expect(await open(bearing(secret, { "X-Mesh": "yes" }), elsewhere)).toMatchObject({ user: "jobs" });
    await expect(open(bearing(secret), here)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });
});

describe("a development token", () => {
  it("is believed on this machine alone, and on no server that others can reach", async () => {
    const authenticate = developmentTokens();
    const token = "dev:anne@garden,kitchen:admin,writer";
    expect(await authenticate(bearing(token), here)).toEqual({
      ...{ user: "anne", scope: "garden", roles: ["admin", "writer"] },
      memberships: [{ scope: "kitchen", roles: ["admin", "writer"] }],
    });
    expect(await authenticate(bearing(token), elsewhere)).toBeUndefined();
    expect(await authenticate(bearing(token), { isLocal: true, isExposed: true })).toBeUndefined();
    expect(await authenticate(bearing(token, { "X-Forwarded-For": "192.0.2.1" }), here)).toBeUndefined();
    for (const odd of ["dev:anne", "dev:@garden", "dev:anne@", "dev:anne@garden,", "anne@garden", "dev:anne@_x", "dev:anne@garden:"])
      expect(await authenticate(bearing(odd), here), odd).toBeUndefined();
  });
});

describe("several authenticators", () => {
  const anne = bearerTokens({ "anne-0123456789abcdef": { user: "anne", scope: "garden" } });
  const ben = bearerTokens({ "ben-0123456789abcdefg": { user: "ben", scope: "kitchen" } });
  const down: Authenticate = () => {
    throw new AgentError("NOT_READY", { message: "Down." });
  };

  it("know the callers of each of them, in their order", async () => {
    const both = anyOf([anne, ben]);
    expect(await both(bearing("ben-0123456789abcdefg"), here)).toMatchObject({ user: "ben" });
    expect(await both(bearing("unknown-0123456789ab"), here)).toBeUndefined();
    expect(await anyOf([])(bearing("x"), here)).toBeUndefined();
  });

  it("let in the caller that one knows while another has no verdict, and refuse all others without a verdict of their own", async () => {
    expect(await anyOf([down, anne])(bearing("anne-0123456789abcdef"), here)).toMatchObject({ user: "anne" });
    await expect(anyOf([down, anne])(bearing("ben-0123456789abcdefg"), here)).rejects.toMatchObject({ code: "NOT_READY" });
    const broken: Authenticate = () => {
      throw new TypeError("a bug");
    };
    await expect(anyOf([broken, anne])(bearing("anne-0123456789abcdef"), here)).rejects.toThrow("a bug");
  });
});
