import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import type { Tool } from "@loopwright/core";
import { masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { sqliteSecrets } from "@loopwright/secrets/node";
import type { Principal } from "@loopwright/server";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { telemetryFile } from "@loopwright/telemetry/sqlite";
import { sqliteRecords } from "@loopwright/user-settings/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProductNode, startNode, stockOf } from "./node.ts";
import { startVendor, type Vendor } from "./vendor.ts";

const missing = redisMissing();
if (missing) console.info(`Skipped: a day of two tenants on two nodes: ${missing}.`);

/** Managers administer their team. Anne works in both. */
const people: readonly Principal[] = [
  { user: "anne", scope: "garden", roles: ["admin"], memberships: [{ scope: "kitchen", roles: ["member"] }] },
  { user: "ben", scope: "garden" },
  { user: "carla", scope: "garden" },
  { user: "dora", scope: "kitchen", roles: ["admin"] },
  { user: "emil", scope: "kitchen" },
  { user: "fred", scope: "kitchen" },
  { user: "jobs", scope: "system", roles: ["service"], memberships: "any", trusted: true },
];
const scopes = ["garden", "kitchen"] as const;
const tokenOf = (user: string): string => `tok-${user}-CANARY-0123456789`;
const platformKey = "sk-PLATFORM-CANARY-0123456789";
const keyOf = (user: string, at: number): string => `sk-${user}-CANARY-${at}-0123456789`;
const secretTexts = [platformKey, ...people.flatMap(({ user }) => [tokenOf(user), keyOf(user, 1), keyOf(user, 2)])];

/** The forms in which a secret may leave. */
const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift, "x"), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), bytes.toString("base64url"), ...shifted];
};
const secretForms = secretTexts.flatMap(formsOf);
const secretsIn = (text: string): readonly string[] => secretForms.filter((form) => text.includes(form));

/** What users write: the text names its tenant and its user, wherever it comes up. */
const canary = /cnry-([a-z]+)-([a-z]+)-\d+/g;
interface Canary {
  readonly scope: string;
  readonly user: string;
}
const canariesIn = (text: string): readonly Canary[] => [...text.matchAll(canary)].map(([, scope = "", user = ""]) => ({ scope, user }));

/** Bytes that one caller got in one scope. */
interface Received {
  readonly scope: string;
  readonly user: string;
  readonly from: string;
  text: string;
}

interface Day {
  readonly redis: RedisProcess;
  readonly vendor: Vendor;
  readonly nodes: readonly ProductNode[];
  readonly folder: string;
  readonly received: Received[];
  readonly lines: string[];
  close(): Promise<void>;
}

async function beginDay(): Promise<Day> {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-tenants-"));
  const redis = await startRedis({ args: ["--appendfsync", "no", "--rdbcompression", "no", "--aof-use-rdb-preamble", "no"] });
  const vendor = await startVendor();
  const lines: string[] = [];
  const keys = masterKeys(await masterKeyOf(newMasterKey()));
  const records = sqliteRecords({ path: join(folder, "settings.db") });
  const secrets = sqliteSecrets({ path: join(folder, "secrets.db"), keys });
  const telemetry = telemetryFile({ path: join(folder, "telemetry.db") });
  const users = Object.fromEntries(people.map((principal) => [tokenOf(principal.user), principal]));
  const shared = { redisUrl: redis.url, vendorUrl: vendor.url, platformKey, users, records, secrets, telemetry };
  const nodes = [0, 1].map((node) => startNode({ ...shared, write: (line) => void lines.push(`${node} ${line}`) }));
  return {
    ...{ redis, vendor, nodes, folder, received: [], lines },
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      telemetry.close();
      secrets.close();
      records.close();
      await vendor.close();
    },
  };
}

/** A request of a caller to a node, of which every byte is kept. */
async function sent(day: Day, { node, user, scope }: Place, request: Request): Promise<Response> {
  const { server } = day.nodes[node] ?? {};
  if (!server) throw new Error("There are two nodes.");
  const response = await server.fetch(request, { remoteAddress: "127.0.0.1" });
  // The cookie is for this caller alone, and its secret for no other place.
  const headers = [...response.headers].filter(([name]) => name !== "set-cookie");
  const got: Received = { scope, user, from: `${request.method} ${new URL(request.url).pathname}`, text: `${JSON.stringify(headers)}\n` };
  day.received.push(got);
  const decoder = new TextDecoder();
  const keeping = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, out) {
      got.text += decoder.decode(bytes, { stream: true });
      out.enqueue(bytes);
    },
  });
  return new Response(response.status === 204 ? null : (response.body?.pipeThrough(keeping) ?? null), response);
}

interface Place {
  readonly node: number;
  readonly user: string;
  readonly scope: string;
}

const clientOf = (day: Day, place: Place): LoopwrightClient =>
  createClient({
    ...{ url: "http://localhost", token: tokenOf(place.user), scope: place.scope },
    fetch: (request) => sent(day, place, request),
  });

const rawOf = (day: Day, place: Place, path: string, init: RequestInit = {}): Promise<Response> =>
  sent(
    day,
    place,
    new Request(`http://localhost${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${tokenOf(place.user)}`, "X-Scope": place.scope, ...(init.headers as object) },
    }),
  );

let count = 0;
const wordsOf = ({ scope, user }: Pick<Place, "scope" | "user">): string => `cnry-${scope}-${user}-${++count}`;

const pickColour = (colour: string): Tool => ({
  name: "pick_colour",
  description: "Asks the person for a colour.",
  parameters: { type: "object", properties: { about: { type: "string" } } },
  execute: () => `The colour is ${colour}.`,
});

/** What each user of a team does in a round: a chat, a client tool, the team's data, a key of its own, files, search. */
async function work(day: Day, place: Place, round: number): Promise<void> {
  const client = clientOf(day, place);
  // The other node continues what this one began.
  const other = clientOf(day, { ...place, node: 1 - place.node });
  const own = wordsOf(place);
  const sessionId = `${place.scope}-${place.user}-${round}`;
  const first = await client.execute(`Hello ${own}`, { sessionId, tools: [pickColour(own)] }).result();
  expect(first.text).toContain(own);
  expect((await other.execute(`A colour for ${own}`, { sessionId, tools: [pickColour(own)] }).result()).text).toContain(
    `The colour is ${own}`,
  );
  expect((await client.execute(`The stock for ${own}`, { sessionId }).result()).text).toContain(stockOf(place.scope));
  await other.sessions.change(sessionId, { title: `Title ${own}` });
  const file = await client.uploadFile(new Blob([`file ${own}`], { type: "text/plain" }), `${own}.txt`);
  expect((await other.files()).files.map(({ blob }) => blob)).toContain(file.blob);
  expect((await other.sessions.search(own)).length).toBeGreaterThan(0);
  expect((await client.sessions.export(sessionId, "markdown")).text).toContain(own);
  // Keys: the platform's, one of the user's own, another one, none again.
  const keysUsed = async (): Promise<readonly string[]> => {
    const before = day.vendor.calls.length;
    await client.execute(`More of ${own}`, { sessionId }).result();
    return day.vendor.calls.slice(before).flatMap(({ key, body }) => (body.includes(own) ? [key] : []));
  };
  const provider = { providerId: "vendor", model: "small", displayName: `Mine ${own}` };
  const { instanceId } = await client.providers.add({ ...provider, key: keyOf(place.user, 1) });
  expect(await keysUsed()).toEqual([keyOf(place.user, 1)]);
  await other.providers.change(instanceId, { key: keyOf(place.user, 2) });
  expect(await keysUsed()).toEqual([keyOf(place.user, 2)]);
  await client.providers.remove(instanceId);
  expect(await keysUsed()).toEqual([platformKey]);
  await client.settings.change({ personalization: { enabled: true, text: `Call me ${own}` } });
}

/** A call that waits is found in the inbox of the team's manager on the other node, and decided there. */
async function approve(day: Day, place: Place, manager: string): Promise<void> {
  const own = wordsOf(place);
  const client = clientOf(day, place);
  const { sessionId } = await client.sessions.create();
  await client.sessions.submit(sessionId, `A refund for ${own}`);
  const boss = clientOf(day, { ...place, user: manager, node: 1 - place.node });
  const waiting = await expect
    .poll(async () => (await boss.approvals.list()).approvals.find((one) => one.sessionId === sessionId), { timeout: 20_000 })
    .toBeTruthy()
    .then(async () => (await boss.approvals.list()).approvals.find((one) => one.sessionId === sessionId));
  const { callKey = "", argsDigest = "" } = waiting ?? {};
  const isAllowed = place.scope === "garden";
  await boss.sessions.decide(
    sessionId,
    callKey,
    isAllowed ? { decision: "allow", argsDigest } : { decision: "deny", argsDigest, note: `Not for ${own}` },
  );
  for await (const batch of client.follow(sessionId))
    if (batch.some(({ type }) => type === "run_end" || type === "agent_end" || type === "rest")) break;
  await expect
    .poll(async () => JSON.stringify((await client.sessions.get(sessionId)).messages), { timeout: 20_000 })
    .toContain(isAllowed ? `Refunded for A refund for ${own}` : `Not for ${own}`);
}

/** Whatever a user of one team asks about the other, the answer is that for what does not exist. */
async function pry(day: Day, place: Place): Promise<void> {
  const foreign = scopes.find((scope) => scope !== place.scope) ?? "";
  const user = foreign === "garden" ? "ben" : "emil";
  const id = `${foreign}-${user}-0`;
  const answers = async (session: string): Promise<string> => {
    const asked = ["", "/events", "/export?format=json", "/state"].map(async (path) => {
      const response = await rawOf(day, place, `/api/sessions/${session}${path}`);
      return `${response.status} ${(await response.text()).replaceAll(session, "ID").replace(/"(requestId|instance)":"[^"]*"/g, "")}`;
    });
    return (await Promise.all(asked)).join("\n");
  };
  expect(await answers(id)).toBe(await answers("nothing-of-this-id"));
  expect(await clientOf(day, place).sessions.search(`cnry ${foreign}`)).toEqual([]);
  const lists = JSON.stringify([
    await clientOf(day, place).sessions.list(),
    await clientOf(day, place).files(),
    await clientOf(day, place).providers.list(),
  ]);
  expect(lists).not.toContain(`cnry-${foreign}`);
  const isInBoth = place.user === "anne";
  expect((await rawOf(day, { ...place, scope: isInBoth ? "nowhere" : foreign }, "/api/sessions")).status).toBe(403);
  expect((await rawOf(day, place, `/api/sessions?token=${tokenOf(place.user)}x`)).status).toBe(401);
}

/** Streams that are open all day, on each node, in the native form and in a dialect. */
function listen(day: Day, place: Place): () => Promise<void> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const native = (async () => {
    for await (const _ of clientOf(day, place).notifications({ signal })) if (signal.aborted) break;
  })().catch(() => {});
  const dialect = rawOf(day, { ...place, node: 1 - place.node }, "/api/notifications?dialect=union", { signal })
    .then(({ body }) => body?.pipeTo(new WritableStream(), { signal }))
    .catch(() => {});
  return async () => {
    leaving.abort();
    await Promise.all([native, dialect]);
  };
}

/** Every key of Redis with its value, as bytes. */
async function redisValues({ redis }: Day): Promise<readonly { readonly key: string; readonly value: string }[]> {
  const listed = await redis.command("KEYS", "*");
  const keys = listed.split("\r\n").filter((line) => line !== "" && !/^[*$]\d+$/.test(line));
  return Promise.all(keys.map(async (key) => ({ key, value: await redis.command("DUMP", key) })));
}

describe.skipIf(missing !== undefined)("A16, A25, A34, A57, T02: two tenants with three users each, on two nodes over Redis", () => {
  let day: Day;
  beforeAll(async () => {
    day = await beginDay();
  });
  afterAll(async () => {
    await day.redis.stop();
    rmSync(day.folder, { recursive: true, force: true });
  });

  it("work a day with chats, client tools, approvals, key changes and team switches; no byte of one tenant or user is where it does not belong, and no secret anywhere", async () => {
    const places = people.filter(({ user }) => user !== "jobs").map(({ user, scope }, at): Place => ({ user, scope, node: at % 2 }));
    const switched: Place = { user: "anne", scope: "kitchen", node: 1 };
    const all = [...places, switched];
    const stops = all.map((place) => listen(day, place));
    for (let round = 0; round < 2; round++) {
      await Promise.all(all.map((place) => work(day, place, round)));
      await Promise.all([approve(day, places[1] as Place, "anne"), approve(day, places[4] as Place, "dora")]);
      await Promise.all(all.map((place) => pry(day, place)));
    }
    // A session of Ben's that Carla may read.
    await clientOf(day, places[1] as Place).sessions.share("garden-ben-0", { users: { carla: "viewer" } });
    const shared = await clientOf(day, places[2] as Place).sessions.get("garden-ben-0");
    expect(JSON.stringify(shared)).toContain("cnry-garden-ben-");
    // A cookie of one node counts on the other, in both teams.
    const login = await rawOf(day, places[0] as Place, "/api/login", { method: "POST" });
    const cookie = (login.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    for (const scope of scopes) {
      const asked = new Request("http://localhost/api/sessions", { headers: { Cookie: cookie, "X-Scope": scope } });
      expect((await sent(day, { user: "anne", scope, node: 1 }, asked)).status).toBe(200);
    }
    for (const scope of scopes) {
      await clientOf(day, { user: "jobs", scope, node: 0 }).notify({
        type: "job_progress",
        data: { text: wordsOf({ scope, user: "data" }) },
      });
    }
    await expect
      .poll(() => day.received.filter(({ from, text }) => from.endsWith("/notifications") && /cnry-\w+-data-\d\d/.test(text)).length)
      .toBeGreaterThanOrEqual(12);
    const metrics = await Promise.all(
      [0, 1].map(async (node) => (await rawOf(day, { user: "jobs", scope: "system", node }, "/metrics")).text()),
    );
    await Promise.all(stops.map((stop) => stop()));
    const values = await redisValues(day);
    await day.close();

    // Streams and answers: the tenant, and within it the user.
    const admins = new Set(["anne@garden", "dora@kitchen"]);
    const mayHave = ({ user, scope }: Received, found: Canary): boolean => {
      if (found.scope !== scope) return false;
      const isShared = user === "carla" && found.user === "ben";
      return [user, "data"].includes(found.user) || admins.has(`${user}@${scope}`) || isShared;
    };
    const ofUsers = day.received.filter(({ user }) => user !== "jobs");
    const misplaced = ofUsers.flatMap((one) =>
      canariesIn(one.text)
        .filter((found) => !mayHave(one, found))
        .map((found) => ({ ...one, found, text: "" })),
    );
    expect(misplaced).toEqual([]);
    expect(day.received.flatMap((one) => secretsIn(one.text).map((secret) => `${one.from} ${one.user} ${secret}`))).toEqual([]);
    const streams = ofUsers.filter(({ from }) => /notifications|events|execute/.test(from));
    // The vendor: text of one tenant alone in each request, and a user's key for that user alone.
    for (const { key, body } of day.vendor.calls) {
      const found = canariesIn(body);
      expect(new Set(found.map(({ scope }) => scope)).size).toBe(1);
      if (key !== platformKey) expect(found.every(({ user }) => user === "data" || key.startsWith(`sk-${user}-`))).toBe(true);
    }
    // Logs and metrics have no content at all.
    for (const text of [...day.lines, ...metrics]) expect([canariesIn(text), secretsIn(text)], text).toEqual([[], []]);
    expect(metrics.every((text) => !/garden|kitchen|anne|ben|carla|dora|emil|fred/.test(text))).toBe(true);
    // Redis: a value has the tenant that its key names.
    const scopeOf = (key: string): string | undefined => scopes.find((scope) => new RegExp(`[{./ ]${scope}[.} ]`).test(key));
    const wrong = values.filter(({ key, value }) => canariesIn(value).some(({ scope }) => scope !== scopeOf(key)));
    expect(wrong.map(({ key }) => key)).toEqual([]);
    const cookieSecret = cookie.split("=")[1] ?? "none";
    const places2 = [...values.map(({ key, value }) => key + value), ...filesIn(day.folder), ...filesIn(day.redis.dir)];
    expect(places2.filter((text) => secretsIn(text).length > 0 || text.includes(cookieSecret))).toEqual([]);
    for (const text of filesIn(day.folder, /^telemetry/)) expect(canariesIn(text)).toEqual([]);
    // What was searched is where the content is: an empty place would prove nothing.
    const counts = {
      streams: streams.length,
      streamBytes: streams.reduce((sum, { text }) => sum + text.length, 0),
      canariesInStreams: streams.reduce((sum, { text }) => sum + canariesIn(text).length, 0),
      answers: ofUsers.length - streams.length,
      lines: day.lines.length,
      redisKeys: values.length,
      canariesInRedis: values.reduce((sum, { value }) => sum + canariesIn(value).length, 0),
      vendorCalls: day.vendor.calls.length,
    };
    console.info(JSON.stringify(counts));
    expect(counts.canariesInStreams).toBeGreaterThan(200);
    expect(counts.canariesInRedis).toBeGreaterThan(200);
    expect(counts.vendorCalls).toBeGreaterThan(80);
    for (const { user, scope } of all)
      expect(values.some(({ key, value }) => scopeOf(key) === scope && value.includes(`cnry-${scope}-${user}-`))).toBe(true);
  }, 180_000);
});

/** Every byte of the files of a folder and of those in it. */
function filesIn(folder: string, named = /./): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && named.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}
