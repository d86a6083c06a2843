/* Owns: what is looked at of a whole world once everything rests: how nodes show sessions, what they and Redis still hold, what was written down. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Census, checkCensus, checkKeys, type StoredKey } from "../../check/check-leftovers.ts";
import { checkForeignAnswers, type ForeignAnswer } from "../../check/check-tenants.ts";
import type { Child } from "../../world/child.ts";
import { tenants, tenantWords } from "../../world/tenants.ts";
import type { World } from "../../world/world.ts";
import type { Place } from "./crowd.ts";

/** How long nodes may take to show the same, and to let go of what they do not need. */
const graceMs = 15_000;
/** How long a queue may take to find the hints of workers that died: twice what it takes them for alive. */
const queueMs = 45_000;
const lookMs = 200;
const patienceMs = 10_000;

interface Living {
  readonly name: string;
  readonly base: string;
  readonly child: Child;
}

function living(world: World): readonly Living[] {
  return world.nodes.flatMap((child, index) =>
    child?.isAlive ? [{ name: `node${index}`, base: `http://127.0.0.1:${child.port}`, child }] : [],
  );
}

/** Asks again until the answer has nothing wrong, or the time is over; gives back what is wrong then. */
async function withinGrace(look: () => Promise<readonly string[]>, withinMs = graceMs): Promise<readonly string[]> {
  const until = performance.now() + withinMs;
  for (;;) {
    const flaws = await look();
    if (flaws.length === 0 || performance.now() > until) return flaws;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** The session as every node shows it, once they have all come as far. */
export async function shownByNodes(world: World, { id, tenant: { headers } }: Place): Promise<{ readonly [node: string]: unknown }> {
  const until = performance.now() + graceMs;
  for (;;) {
    const shown = await Promise.all(
      living(world).map(async ({ name, base }) => {
        const answer = await fetch(`${base}/api/sessions/${id}`, { headers, signal: AbortSignal.timeout(patienceMs) }).catch(
          () => undefined,
        );
        return [name, await answer?.json()] as const;
      }),
    );
    const cursors = new Set(shown.map(([, snapshot]) => (snapshot as { readonly cursor?: string } | undefined)?.cursor));
    if (cursors.size <= 1 || performance.now() > until) return Object.fromEntries(shown);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** I13: every tenant asks every node for the first session of each other one. */
export async function flawsOfForeigners(world: World, places: readonly Place[]): Promise<readonly string[]> {
  const answers: Promise<ForeignAnswer>[] = [];
  for (const { scope, headers } of tenants) {
    const foreign = tenants.flatMap((other) => (other.scope === scope ? [] : (places.find(({ tenant }) => tenant === other) ?? [])));
    for (const { id } of foreign)
      for (const { base } of living(world)) answers.push(...askForForeign(`${base}/api/sessions/${id}`, headers));
  }
  return checkForeignAnswers(await Promise.all(answers));
}

function askForForeign(url: string, headers: { readonly [name: string]: string }): readonly Promise<ForeignAnswer>[] {
  const ask = async (method: string, path: string, body?: object): Promise<ForeignAnswer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(patienceMs),
    }).catch(() => undefined);
    await response?.body?.cancel();
    return { asked: `${method} ${path || "the session"}`, status: response?.status ?? 0 };
  };
  return [
    ask("GET", ""),
    ask("GET", "/events?after=0.0"),
    ask("POST", "/abort", {}),
    ask("POST", "/tool-results", { results: [{ role: "tool_result", toolCallId: "x", callKey: "r.1.0", content: "x" }] }),
    ask("POST", "/approvals/r.1.0", { decision: "allow" }),
  ];
}

/** I8: no node holds a connection to the model, I11: nor more than what a node at rest needs. */
export async function flawsOfLeftovers(world: World, places: readonly Place[], otherSessions: number): Promise<readonly string[]> {
  const model = await withinGrace(async () => {
    const { open } = await world.model();
    return open === 0 ? [] : [`I8: everything rests and ${open} connections to the model are open`];
  });
  const nodes = await Promise.all(
    living(world).map(({ name, base, child }) =>
      withinGrace(async () => checkCensus(name, await censusOf(base, child, (text) => receiveMetrics(world, name, text)))),
    ),
  );
  return [
    ...model,
    ...nodes.flat(),
    ...(await withinGrace(() => flawsOfRedis(world, places, otherSessions), queueMs)),
    ...metricsFlaws(world),
  ];
}

const metricsReceived = new WeakMap<World, Set<string>>();

function receiveMetrics(world: World, name: string, text: string): void {
  world.hunt.receive(`/metrics of ${name}`, text);
  const received = metricsReceived.get(world) ?? new Set();
  metricsReceived.set(world, received);
  for (const word of Object.values(tenantWords)) if (text.includes(word)) received.add(word);
}

const metricsFlaws = (world: World): readonly string[] =>
  [...(metricsReceived.get(world) ?? [])].map((word) => `I13: /metrics notifies of ${word}, which a tenant has sent`);

async function censusOf(base: string, child: Child, receive: (text: string) => void): Promise<Census> {
  const text = await (await fetch(`${base}/metrics`, { signal: AbortSignal.timeout(patienceMs) })).text();
  receive(text);
  const gauge = (name: string): number => Number(new RegExp(`^loopwright_${name} (\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
  const { handles, quiet } = await child.ask<Pick<Census, "handles" | "quiet">>("handles");
  return { handles, quiet, streams: gauge("sse_clients"), runs: gauge("runs_active"), loaded: gauge("sessions_loaded") };
}

const listKeys =
  "local list = {} for _, key in ipairs(redis.call('KEYS', '*')) do list[#list + 1] = redis.call('PTTL', key) .. ' ' .. key end return list";

async function flawsOfRedis({ ground }: World, places: readonly Place[], otherSessions: number): Promise<readonly string[]> {
  if (!ground.redis) return [];
  const reply = await ground.redis.command("EVAL", listKeys, "0");
  const keys = reply.split("\r\n").flatMap((line): readonly StoredKey[] => {
    const [, expires, name] = /^(-?\d+) (.+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, expiresMs: Number(expires) }];
  });
  const keyedRequests = places.reduce((sum, { person }) => sum + person.keyed, otherSessions);
  return checkKeys({ keys, keyedRequests, otherSessions, sessions: places.map(({ id }) => id) });
}

/** I12: looks through everything that was written down. */
export async function lookThrough(world: World): Promise<void> {
  for (const folder of await world.remains())
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      for await (const piece of createReadStream(file)) world.hunt.receive(`the file ${entry.name}`, piece as Uint8Array);
    }
}
