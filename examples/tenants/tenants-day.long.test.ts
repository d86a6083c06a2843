import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import type { Tool } from "@loopwright/core";
import { eraseScope } from "@loopwright/host";
import { masterKeyOf, masterKeys, newMasterKey } from "@loopwright/secrets";
import { sqliteSecrets } from "@loopwright/secrets/node";
import type { Principal } from "@loopwright/server";
import { type RedisProcess, redisMissing, startRedis } from "@loopwright/simulator/node";
import { telemetryFile } from "@loopwright/telemetry/sqlite";
import { canaryScanner } from "@loopwright/testing";
import { sqliteRecords } from "@loopwright/user-settings/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Artefact, type Canary, canariesIn, leaksIn } from "./leaks.ts";
import { type ProductNode, startNode, stockOf } from "./node.ts";
import { troubles } from "./troubles.ts";
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
/** What a tool, a hook and a route of the product put into the text of their errors. */
const productSecret = "sk-PRODUCT-CANARY-0123456789";
const brokenToken = tokenOf("broken");
const secretTexts = [
  platformKey,
  productSecret,
  brokenToken,
  ...people.flatMap(({ user }) => [tokenOf(user), keyOf(user, 1), keyOf(user, 2)]),
];

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
  /** A user's secret goes away behind the product's back. */
  loseSecrets(scope: string, names: readonly string[]): Promise<void>;
  secretNames(scope: string): Promise<readonly string[]>;
  /** What the product itself removes of a team: entries and secrets of its users. */
  removeEntries(scope: string): Promise<void>;
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
  const shared = {
    ...{ redisUrl: redis.url, vendorUrl: vendor.url, platformKey, records, secrets, telemetry },
    ...troubles({ secret: productSecret, users, brokenToken }),
  };
  const loseSecrets = async (scope: string, names: readonly string[]): Promise<void> => {
    for (const name of names) await secrets.remove(scope, name);
  };
  const nodes = [0, 1].map((node) => startNode({ ...shared, write: (line) => void lines.push(`${node} ${line}`) }));
  return {
    ...{ redis, vendor, nodes, folder, received: [], lines, loseSecrets },
    secretNames: (scope) => secrets.names(scope),
    async removeEntries(scope) {
      for (const { user } of people)
        for (const kind of ["provider", "active-provider", "plan", "settings"] as const)
          for (const { id } of await records.list({ scope, user }, kind)) await records.remove({ scope, user }, kind, { id });
      await loseSecrets(scope, await secrets.names(scope));
    },
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
  expect((await other.sessions.search(own)).hits.length).toBeGreaterThan(0);
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
    .poll(async () => (await boss.approvals.list()).approvals.find((one) => one.sessionId === sessionId))
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
    .poll(async () => JSON.stringify((await client.sessions.get(sessionId)).messages))
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
  expect((await clientOf(day, place).sessions.search(`cnry ${foreign}`)).hits).toEqual([]);
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

/** What fails with a user's words: a tool, hooks, an observer, a route, the vendor, the user's key, what signs callers in. Each is reported, with no secret. */
async function fail(day: Day, place: Place): Promise<void> {
  const client = clientOf(day, place);
  const own = wordsOf(place);
  const ended = async (words: string): Promise<string> => {
    const { status, error } = await client.execute(`${words} for ${own}`).result();
    return `${status} ${error?.code ?? ""}`.trim();
  };
  expect(await ended("A breakage")).toBe("completed");
  expect(await ended("A preparation")).toBe("error HOOK_FAILED");
  expect(await ended("An observer")).toBe("completed");
  expect(await ended("Something malformed")).toBe("error MODEL_BAD_REQUEST");
  await expect(client.execute(`A hook for ${own}`).result()).rejects.toMatchObject({ code: "HOOK_FAILED" });
  expect((await rawOf(day, place, "/api/broken")).status).toBe(500);
  expect((await rawOf(day, { ...place, user: "broken" }, "/api/sessions")).status).toBeGreaterThanOrEqual(500);
  expect((await rawOf(day, { ...place, user: "unknown" }, "/api/sessions")).status).toBe(401);
  const before = await day.secretNames(place.scope);
  const provider = { providerId: "vendor", model: "small", displayName: `Mine ${own}` };
  const { instanceId } = await client.providers.add({ ...provider, key: keyOf(place.user, 1) });
  expect(await ended("Something forbidden")).toBe("error MODEL_AUTH");
  await day.loseSecrets(
    place.scope,
    (await day.secretNames(place.scope)).filter((name) => !before.includes(name)),
  );
  expect(await ended("Hello")).toBe("error OWN_KEY_UNUSABLE");
  await client.providers.remove(instanceId);
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

describe.skipIf(missing !== undefined)(
  "A16, A25, A34, A57, K05, M01, T02: two tenants with three users each, on two nodes over Redis",
  () => {
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
      // One after the other, so that a secret is lost to its user alone.
      for (const place of all) await fail(day, place);
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
      const filesBefore = filesIn(day.folder);
      const redisFiles = filesIn(day.redis.dir);

      const admins = new Set(["anne@garden", "dora@kitchen"]);
      const mayHave =
        ({ user, scope }: Received) =>
        (found: Canary): boolean => {
          if (found.scope !== scope) return false;
          const isShared = user === "carla" && found.user === "ben";
          return [user, "data"].includes(found.user) || admins.has(`${user}@${scope}`) || isShared;
        };
      const scopeOf = (key: string): string | undefined => scopes.find((scope) => new RegExp(`[{./ ]${scope}[.} ]`).test(key));
      const none = (): boolean => false;
      const isStream = ({ from }: Received): boolean => /notifications|events|execute/.test(from);
      const artefacts: readonly Artefact[] = [
        // Streams and answers: the tenant, and within it the user. The service works for all.
        ...day.received.map((one): Artefact => {
          const { user, scope, from: path, text } = one;
          const kind = isStream(one) ? "stream" : "answer";
          return {
            kind,
            name: `${path} to ${user} in ${scope}`,
            bytes: Buffer.from(text),
            mayHave: user === "jobs" ? ({ scope: of }) => of === scope : mayHave(one),
          };
        }),
        // Lines have no words of users, but where code of the product put some into its error: that line names the scope.
        ...day.lines.map((text, at): Artefact => {
          const { scope, message } = JSON.parse(text.slice(2)) as { readonly scope?: string; readonly message: string };
          const isOfProduct = message.endsWith("threw an error.");
          return {
            kind: "log line",
            name: `${at}: ${message}`,
            bytes: Buffer.from(text),
            mayHave: (found) => isOfProduct && found.scope === scope,
          };
        }),
        ...metrics.map((text, node): Artefact => ({ kind: "metrics", name: `of node ${node}`, bytes: Buffer.from(text), mayHave: none })),
        // A value has the tenant that its key names.
        ...values.map(
          ({ key, value }): Artefact => ({
            kind: "key of Redis",
            name: key,
            bytes: Buffer.from(key + value),
            mayHave: ({ scope }) => scope === scopeOf(key),
          }),
        ),
        // Files of all tenants: no secret, and no words in the numbers for operators and among the encrypted secrets.
        ...[...filesBefore, ...redisFiles].map(
          ({ name, bytes }): Artefact => ({ kind: "file", name, bytes, mayHave: /^(telemetry|secrets)/.test(name) ? none : () => true }),
        ),
        // The vendor gets the words of one tenant at a time, with a user's key those of this user.
        ...day.vendor.calls.map(({ key, body }, at): Artefact => {
          const [first] = canariesIn(body);
          const isOwn = ({ user }: Canary): boolean => key === platformKey || user === "data" || key.startsWith(`sk-${user}-`);
          return {
            kind: "call of the vendor",
            name: `${at}`,
            bytes: Buffer.from(body),
            mayHave: (found) => found.scope === first?.scope && isOwn(found),
          };
        }),
      ];
      const cookieSecret = cookie.split("=")[1] ?? "none";
      const users = scopes.flatMap((scope) => [...new Set([...people.map(({ user }) => user), "data"])].map((user) => ({ scope, user })));
      const sought = { users: [...users, { scope: "nowhere", user: "none" }], secrets: [...secretTexts, cookieSecret] };
      expect(await leaksIn(artefacts, sought)).toEqual([]);
      expect(metrics.every((text) => !/garden|kitchen|anne|ben|carla|dora|emil|fred/.test(text))).toBe(true);
      // The scan can fail: in each kind of artefact words of another one and a secret in each form are found.
      const kinds = [...new Map(artefacts.map((one) => [one.kind, one])).values()];
      expect(kinds.map(({ kind }) => kind).sort()).toEqual(
        ["answer", "call of the vendor", "file", "key of Redis", "log line", "metrics", "stream"].sort(),
      );
      for (const one of kinds) {
        const strict = one.kind === "file" ? { ...one, mayHave: none } : one;
        const withText = (text: string | Uint8Array): Artefact => ({ ...strict, bytes: Buffer.concat([one.bytes, Buffer.from(text)]) });
        expect(await leaksIn([withText(Buffer.from(" cnry-nowhere-none-1").toString("base64"))], sought)).toHaveLength(1);
        for (const secret of sought.secrets.slice(0, 3))
          for (const text of [secret, Buffer.from(secret, "utf16le"), gzipSync(JSON.stringify({ secret }))])
            expect(await leaksIn([withText(text)], sought)).toHaveLength(1);
      }
      // Each failure left its line, and each line that names a session names the scope that the session is in. A session whose input was refused has no keys.
      const written = day.lines.join("");
      for (const what of [
        "The tool `break_down` threw an error.",
        "The hook `prepare` of `moody` threw an error.",
        "The hook `accept` of `moody` threw an error.",
        "This will not end well.",
        "The method `facts` of an observer threw an error.",
        "The function `resolveModel` threw an error.",
        "An extension route threw an error.",
        "`authenticate` threw an error",
        "A vendor answered a model call with an error.",
      ])
        expect(written.includes(what), what).toBe(true);
      const named = day.lines.map((line) => JSON.parse(line.slice(2)) as { readonly session?: string; readonly scope?: string });
      const scopesOf = new Map(
        values.flatMap(({ key }) => [...key.matchAll(/\{(garden|kitchen)\.([^}]+)\}/g)].map(([, of, id]) => [id, of] as const)),
      );
      const unplaced = named.filter(
        ({ session, scope }) => session !== undefined && (scope === undefined || scope !== (scopesOf.get(session) ?? scope)),
      );
      expect(unplaced).toEqual([]);
      // What was searched is where the content is: an empty place would prove nothing.
      const streams = artefacts.filter(({ kind }) => kind === "stream");
      const countIn = (kind: Artefact["kind"]): number =>
        artefacts.filter((one) => one.kind === kind).reduce((sum, { bytes }) => sum + canariesIn(bytes.toString("latin1")).length, 0);
      const counts = {
        ...{ artefacts: artefacts.length, bytes: artefacts.reduce((sum, { bytes }) => sum + bytes.length, 0) },
        ...{ streams: streams.length, canariesInStreams: countIn("stream"), lines: day.lines.length, canariesInLines: countIn("log line") },
        ...{ redisKeys: values.length, canariesInRedis: countIn("key of Redis"), vendorCalls: day.vendor.calls.length },
      };
      console.info(JSON.stringify(counts));
      expect(counts.canariesInStreams).toBeGreaterThan(200);
      expect(counts.canariesInRedis).toBeGreaterThan(200);
      // Failures bring words of users in their messages, and the lines of operators leave these out.
      expect(counts.canariesInLines).toBe(0);
      expect(counts.lines).toBeGreaterThan(60);
      expect(counts.vendorCalls).toBeGreaterThan(80);
      for (const { user, scope } of all)
        expect(values.some(({ key, value }) => scopeOf(key) === scope && value.includes(`cnry-${scope}-${user}-`))).toBe(true);

      await eraseAndLook(day);
    }, 180_000);
  },
);

/** The end of the day: a session of the garden is erased, and then all of the kitchen. Nothing of either is left; the audit chains verify. */
async function eraseAndLook(day: Day): Promise<void> {
  const [ben, farewell]: [Place, string] = [{ user: "ben", scope: "garden", node: 1 }, "farewell-of-ben"];
  const client = clientOf(day, ben);
  const sessionId = "garden-ben-last";
  expect((await client.execute(`Hello ${farewell}`, { sessionId, tools: [pickColour(farewell)] }).result()).text).toContain(farewell);
  await client.execute(`A colour for ${farewell}`, { sessionId, tools: [pickColour(farewell)] }).result();
  await client.sessions.change(sessionId, { title: farewell });
  expect((await client.sessions.search(farewell)).hits).toHaveLength(1);
  const keysWith = async (text: string): Promise<readonly string[]> =>
    (await redisValues(day)).filter(({ key, value }) => `${key}${value}`.includes(text)).map(({ key }) => key);
  expect((await keysWith(farewell)).length).toBeGreaterThan(2);
  const [{ audit, host }] = day.nodes as readonly [ProductNode];
  const heads = new Map<string, string>();
  for (const scope of scopes) {
    await audit.settled();
    const verdict = await audit.verify(scope);
    if (!verdict.intact) throw new Error(`The chain of ${scope} is broken.`);
    heads.set(scope, verdict.head);
  }

  // On the node that did not run it.
  await clientOf(day, { ...ben, node: 0 }).sessions.remove(sessionId);
  expect((await client.sessions.search(farewell)).hits).toEqual([]);
  await onlyRings(day, await keysWith(farewell));
  expect(await keysWith(farewell)).toEqual([]);

  const gardenKeys = (await keysWith("cnry-garden-")).length;
  const erased = await eraseScope(host, "kitchen");
  expect(erased.held).toEqual([]);
  expect(erased.removed).toBeGreaterThan(10);
  await day.removeEntries("kitchen");
  await onlyRings(day, await keysWith("cnry-kitchen-"));
  expect(await keysWith("cnry-kitchen-")).toEqual([]);
  expect((await keysWith("cnry-garden-")).length).toBe(gardenKeys);
  for (const node of day.nodes) await node.audit.settled();
  for (const scope of scopes) {
    expect(await audit.verify(scope, { head: heads.get(scope) ?? "" })).toMatchObject({ intact: true });
    expect((await audit.list(scope)).some(({ action }) => action === "session.removed")).toBe(true);
  }
  // Redis keeps what happened in its file until it writes the file anew, as it does by itself when the file has doubled.
  await day.redis.command("BGREWRITEAOF");
  await expect
    .poll(() => day.redis.command("INFO", "persistence"))
    .toMatch(/aof_rewrite_in_progress:0[\s\S]*aof_rewrite_scheduled:0[\s\S]*aof_last_bgrewrite_status:ok/);
  await day.close();
  const left = [...filesIn(day.folder), ...filesIn(day.redis.dir)];
  const erasedWords = canaryScanner(["cnry-kitchen-", farewell].map((text) => ({ name: text, text })));
  const leftWords = await Promise.all(
    left.map(async ({ name, bytes }) => (await erasedWords.find(bytes)).map((found) => ({ name, ...found }))),
  );
  expect(left.some(({ bytes }) => bytes.includes("cnry-garden-"))).toBe(true);
  expect(leftWords.flat()).toEqual([]);
}

/** What is left of an erased session for now are the rings of its last lanes, in the channel. Each expires within ten minutes; here this time passes at once. */
async function onlyRings({ redis }: Day, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    expect(key).toMatch(/^loopwright:lane:/);
    const leftMs = Number((await redis.command("PTTL", key)).slice(1));
    expect(leftMs).toBeLessThanOrEqual(600_000);
    // A key without an end would answer -1; one that has just expired, -2.
    expect(leftMs).not.toBe(-1);
    await redis.command("PEXPIRE", key, "0");
  }
}

/** Every byte of the files of a folder and of those in it. */
function filesIn(folder: string): readonly { readonly name: string; readonly bytes: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));
}
