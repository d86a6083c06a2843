import { onTestFinished } from "vitest";
import {
  AgentError,
  type AgentSession,
  createAgent,
  createSession,
  type EphemeralEvent,
  type ErrorCode,
  type Fact,
  type ModelChunk,
  type SessionEvent,
  type SessionOptions,
} from "../src/index.ts";
import { memoryChannel, memoryStore } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import type { EventChannel, ModelProvider, SessionRef, SessionStore } from "../src/ports/index.ts";
import { type AgentParts, calm, deferred } from "./harness.ts";

export const ref = { scope: "local", session: "s1" };

/** One call of a model, as the test has it answer. */
export interface SpokenCall {
  say(...texts: string[]): void;
  read(chunks: readonly ModelChunk[]): void;
  end(): void;
  fail(code: ErrorCode): void;
  /** Its request was closed. */
  readonly isClosed: boolean;
}

/** A model that emits what the test reports it to, when it does. */
export function spokenModel(): { readonly provider: ModelProvider; readonly calls: SpokenCall[] } {
  const calls: SpokenCall[] = [];
  const provider: ModelProvider = {
    name: "spoken",
    defaultModel: "spoken-1",
    capabilities: () => ({ streaming: true, tools: true, vision: true, promptCaching: false }),
    async *stream(_, { signal }) {
      const reads: (readonly ModelChunk[])[] = [];
      let next = deferred();
      let failure: AgentError | undefined;
      const read = (chunks: readonly ModelChunk[]): void => {
        reads.push(chunks);
        next.resolve();
      };
      calls.push({
        read,
        say: (...texts) => {
          for (const delta of texts) read([{ type: "text", index: 0, delta }]);
        },
        end: () => read([{ type: "end", stopReason: "stop", raw: "stop" }]),
        fail(code) {
          failure = new AgentError(code, { message: "As the test says." });
          next.resolve();
        },
        get isClosed() {
          return signal.aborted;
        },
      });
      signal.addEventListener("abort", () => next.resolve());
      for (;;) {
        signal.throwIfAborted();
        if (failure) throw failure;
        const chunks = reads.shift();
        if (chunks) yield chunks;
        else {
          await next.promise;
          next = deferred();
        }
        if (chunks?.some(({ type }) => type === "end")) return;
      }
    },
  };
  return { provider, calls };
}

/** A memory channel that remembers every lane, and loses what the test asks for. */
export interface RingChannel extends EventChannel {
  /** What watchers never get. */
  loses: (event: SessionEvent) => boolean;
  /** What the ring still has. */
  keeps: (event: EphemeralEvent) => boolean;
  /** What watchers get when `letThrough` is called. */
  delays: (event: EphemeralEvent) => boolean;
  letThrough(): void;
  recalls: number;
  /** Events that went to listeners of the session. */
  received: number;
  /** Notifies every listener that it may have missed something. */
  gap(): void;
}

function ringChannel(): RingChannel {
  const channel = memoryChannel();
  const lanes = new Map<number, EphemeralEvent[]>();
  const gaps = new Set<() => void>();
  const late: [SessionRef, EphemeralEvent][] = [];
  const ring: RingChannel = {
    ...channel,
    loses: () => false,
    keeps: () => true,
    delays: () => false,
    letThrough() {
      for (const [session, event] of late.splice(0)) channel.publish(session, [event]);
    },
    recalls: 0,
    received: 0,
    gap() {
      for (const deliver of gaps) deliver();
    },
    subscribe(session, listener, listening) {
      const gap = (): void => listening?.gap?.();
      gaps.add(gap);
      const stop = channel.subscribe(session, (events) => {
        ring.received += events.length;
        listener(events);
      });
      return () => {
        gaps.delete(gap);
        stop();
      };
    },
    publish(session, events) {
      for (const event of events) if ("lane" in event) lanes.set(event.lane, [...(lanes.get(event.lane) ?? []), event]);
      channel.publish(
        session,
        events.filter((event) => {
          if (!("lane" in event) || !ring.delays(event)) return !ring.loses(event);
          late.push([session, event]);
          return false;
        }),
      );
    },
    async recall(_, lane) {
      ring.recalls += 1;
      return (lanes.get(lane) ?? []).filter((event) => ring.keeps(event));
    },
  };
  return ring;
}

/** The store as one node sees it: its calls of the log may be held, or fail. */
export interface NodeStore {
  readonly store: SessionStore;
  /** Calls wait from now on. */
  hold(): void;
  letThrough(): void;
}

export function nodeStore(inner: SessionStore, options: { readonly publishes?: boolean } = {}): NodeStore {
  let gate = deferred();
  let isHeld = false;
  gate.resolve();
  const held = <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>): ((...args: Args) => Promise<T>) => {
    return async (...args) => {
      await gate.promise;
      return act(...args);
    };
  };
  const { log } = inner;
  const { subscribe: _, ...silent } = log;
  const base = options.publishes === false ? silent : log;
  return {
    store: {
      ...inner,
      log: {
        ...base,
        append: held(log.append),
        read: held(log.read),
        head: held(log.head),
        claim: held(log.claim),
        renew: held(log.renew),
      },
    },
    hold() {
      if (!isHeld) gate = deferred();
      isHeld = true;
    },
    letThrough() {
      isHeld = false;
      gate.resolve();
    },
  };
}

/** Some nodes with one store, one channel and one clock. */
export interface Nodes {
  readonly clock: ManualClock;
  readonly store: SessionStore;
  readonly channel: RingChannel;
  readonly model: readonly SpokenCall[];
  /** A handle of a node of its own. */
  node(options?: Partial<SessionOptions>): AgentSession;
  facts(): Promise<readonly Fact[]>;
  types(): Promise<readonly string[]>;
  /** Lets time pass as processes that are awake see it. */
  pass(ms: number, stepMs?: number): Promise<void>;
}

export function nodes(options: AgentParts & { readonly publishes?: boolean; readonly hasChannel?: boolean } = {}): Nodes {
  const { publishes = true, hasChannel = true, ...agentOptions } = options;
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const { store } = nodeStore(inner, { publishes });
  const channel = ringChannel();
  const { provider, calls } = spokenModel();
  const agent = createAgent({ name: "tester", provider, ...agentOptions });
  let seed = 0;
  const facts = (): Promise<readonly Fact[]> => inner.log.read(ref);
  return {
    clock,
    store,
    channel,
    model: calls,
    node: (more = {}) =>
      createSession({
        agent,
        id: ref.session,
        store,
        clock,
        ...(hasChannel ? { channel } : {}),
        ids: seededIds(++seed),
        node: `n${seed}`,
        ...more,
      }),
    facts,
    types: async () => (await facts()).map(({ type }) => type),
    async pass(ms, stepMs = 100) {
      for (let left = ms; left > 0; left -= stepMs) {
        await calm();
        clock.advance(Math.min(stepMs, left));
      }
      await calm();
    },
  };
}

/** What a follower of the session is notified, until the test is over. */
export function receivedBy(session: AgentSession): SessionEvent[] {
  const received: SessionEvent[] = [];
  onTestFinished(session.follow({ events: (events) => void received.push(...events) }));
  return received;
}

/** Drives the session as a worker does, until the test is over. */
export function drive(session: AgentSession): AgentSession {
  receivedBy(session);
  return session;
}
