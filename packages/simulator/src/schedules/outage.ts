/*
 * Owns: one outage of the store, of a given length, that begins at a given moment between two renewals of a lease. The owner has answers and
 * calls of class `once` in progress, which end when the outage begins or after it; another node claims the session as soon as it can.
 * Does not own: the list of moments (run-outages).
 */
import { AgentError, type AgentSession, createAgent, createSession, defineTool, type Fact } from "@loopwright/core";
import { memoryStore, seededIds } from "@loopwright/core/memory";
import type { Clock, ModelProvider, SessionLog, SessionStore } from "@loopwright/core/ports";
import type { Finding } from "../check/finding.ts";
import { claimsInto } from "../check/finding.ts";
import { createVirtualTime, type VirtualTime } from "../world/virtual-time.ts";

/** How an unreachable store behaves: it refuses, or never answers. */
export type OutageKind = "refuses" | "silent";

export interface Outage {
  readonly kind: OutageKind;
  /** When it begins, counted from the first input. */
  readonly atMs: number;
  readonly lastsMs: number;
}

const scope = "local";
/** How long the store takes to answer, and after how long a request without an answer fails. */
const [answerMs, deadlineMs] = [2, 2_000];
/** When effects in progress end: some time after the outage began, so that appends are retried until it is over, or at a moment after every outage. */
const [earlyMs, lateAtMs] = [100, 26_000];
const wordMs = 400;
const untilMs = 60_000;

/** What an outage cost although it was short enough to cost nothing. */
export async function runOutage(outage: Outage): Promise<readonly Finding[]> {
  const time = createVirtualTime({ realWaitMs: 1_000 });
  const clock: Clock = {
    now: () => 1_767_225_600_000 + time.nowMs,
    monotonic: () => time.nowMs,
    after: (ms, run) => time.schedule(ms, run),
    soon: (run) => void time.schedule(0, run),
  };
  const store = memoryStore({ clock });
  const isAway = (): boolean => time.nowMs >= outage.atMs && time.nowMs < outage.atMs + outage.lastsMs;
  const away = awayStore(store, { time, kind: outage.kind, isAway });
  const ids = seededIds(1);
  const open = (session: keyof typeof agents, node: string, own: SessionStore): AgentSession =>
    createSession({ agent: agents[session], id: session, store: own, clock, ids, node });
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const earlyAtMs = outage.atMs + earlyMs;
  const agents = {
    "speaks-early": speakingAgent(wait, earlyAtMs),
    "speaks-late": speakingAgent(wait, lateAtMs),
    "works-early": workingAgent(wait, earlyAtMs),
    "works-late": workingAgent(wait, lateAtMs),
  } as const;
  const sessions = Object.keys(agents) as (keyof typeof agents)[];
  for (const session of sessions) {
    void open(session, "owner", away).submit("Begin.");
    open(session, "heir", store).follow({ events: () => {} });
  }
  await time.pass({ untilMs });
  const findings: Finding[] = [];
  for (const session of sessions) judge(session, await store.log.read({ scope, session }), findings);
  return findings;
}

/** I10, I4: a short outage costs no attempt, interrupts no call, and does not move the session to another owner. */
function judge(session: string, facts: readonly Fact[], findings: Finding[]): void {
  const claim = claimsInto(findings, session);
  const of = <T extends Fact["type"]>(type: T): readonly Extract<Fact, { readonly type: T }>[] =>
    facts.filter((fact): fact is Extract<Fact, { readonly type: T }> => fact.type === type);
  const ended = of("run.finished");
  claim(ended.length === 1 && ended[0]?.status === "completed", "I10", () => `${ended.length} runs ended, as ${ended[0]?.status}`);
  claim(of("model.failed").length === 0, "I10", () => "an answer was thrown away");
  for (const { outcome, callKey } of of("tool.finished")) claim(outcome === "ok", "I4", () => `the call ${callKey} ended as ${outcome}`);
  const owners = new Set(of("owner.claimed").map(({ node }) => node));
  claim(owners.size === 1, "I9", () => `the session went through the hands of ${[...owners].join(", ")}`);
}

type Wait = (ms: number) => Promise<void>;

function provider(speak: (request: Parameters<ModelProvider["stream"]>[0]) => ReturnType<ModelProvider["stream"]>): ModelProvider {
  const capabilities = { streaming: true, tools: true, vision: false, promptCaching: false };
  return { name: "outage", defaultModel: "outage-1", capabilities: () => capabilities, stream: speak };
}

/** A model that writes one word after the other for a given time. */
function speakingAgent(wait: Wait, speakMs: number): ReturnType<typeof createAgent> {
  return createAgent({
    name: "speaker",
    provider: provider(async function* () {
      for (let leftMs = speakMs; leftMs > 0; leftMs -= wordMs) {
        await wait(Math.min(leftMs, wordMs));
        yield [{ type: "text", index: 0, delta: "word " }];
      }
      yield [{ type: "end", stopReason: "stop", raw: "stop" }];
    }),
  });
}

/** A model with one call of class `once`, which takes a given time. */
function workingAgent(wait: Wait, workMs: number): ReturnType<typeof createAgent> {
  const work = defineTool({
    name: "work",
    description: "Takes long.",
    parameters: { type: "object" },
    timeoutMs: workMs * 2,
    execute: () => wait(workMs).then(() => "done"),
  });
  return createAgent({
    name: "worker",
    tools: [work],
    provider: provider(async function* ({ messages }) {
      if (messages.some(({ role }) => role === "tool_result")) yield [{ type: "text", index: 0, delta: "Done." }];
      else
        yield [
          { type: "call-start", index: 0, id: "c1", name: "work" },
          { type: "call-args", index: 0, delta: "{}" },
        ];
      yield [{ type: "end", stopReason: "stop", raw: "stop" }];
    }),
  });
}

/** The store as the owner sees it. */
function awayStore(
  { log, ...store }: SessionStore,
  { time, kind, isAway }: { readonly time: VirtualTime; readonly kind: OutageKind; readonly isAway: () => boolean },
): SessionStore {
  const after = (ms: number): Promise<void> => new Promise((resolve) => void time.schedule(ms, resolve));
  const ask = async <T>(act: () => Promise<T>): Promise<T> => {
    if (!isAway()) await after(answerMs);
    if (!isAway()) return act();
    if (kind === "silent") await after(deadlineMs);
    throw new AgentError("STORE_UNAVAILABLE", { message: "The simulated store is away." });
  };
  const seen: SessionLog = {
    ...log,
    append: (ref, request) => ask(() => log.append(ref, request)),
    read: (ref, options) => ask(() => log.read(ref, options)),
    head: (ref) => ask(() => log.head(ref)),
    claim: (ref, claim) => ask(() => log.claim(ref, claim)),
    renew: (ref, lease) => ask(() => log.renew(ref, lease)),
    renewAll: (renewals) => ask(() => Promise.all(renewals.map(({ ref, ...lease }) => log.renew(ref, lease)))),
    release: (ref, epoch) => ask(() => log.release(ref, epoch)),
  };
  return { ...store, log: seen };
}
