import { onTestFinished } from "vitest";
import {
  type AgentSession,
  type DurableEvent,
  type EventCursor,
  type ExecuteResult,
  type Fact,
  readHistory,
  resume,
  type SessionEvent,
  type SessionOptions,
} from "../src/index.ts";
import { type Death, type DyingStore, dyingStore } from "./dying-store.ts";
import { type AgentParts, calm, type Script, type World, world } from "./harness.ts";

const leaseMs = 20_000;
const ref = { scope: "local", session: "s1" };

export interface Process {
  readonly session: AgentSession;
  readonly store: DyingStore;
}

/** A client that goes from process to process with its cursor: it reads the log after it, then receives what happens. */
export interface Client {
  readonly events: readonly SessionEvent[];
  /** Leaves the process it was at, and comes to this one. */
  connect(session: AgentSession): Promise<void>;
  typesOf(pattern: RegExp): readonly string[];
}

/** One log and one clock, and processes of which each may die. */
export interface Processes extends World {
  /** A process of its own over the log. It dies at the append it is notified, or when it is killed. */
  boot(death?: Death, options?: Pick<SessionOptions, "drives" | "ledger">): Process;
  /** A process that dies between its claim and its first append. */
  bootUntilClaim(): Process;
  /** The lease of the dead process runs out. */
  outlive(): void;
  /** The session continues at this process until it rests; waits of retries pass. */
  finish(session: AgentSession): Promise<ExecuteResult>;
  client(): Client;
  count(type: Fact["type"]): Promise<number>;
  factsOf<Type extends Fact["type"]>(type: Type): Promise<readonly Extract<Fact, { readonly type: Type }>[]>;
  /** Every durable event of the log, in order. */
  history(): Promise<readonly DurableEvent[]>;
}

export function processes(script: Script, options: AgentParts = {}): Processes {
  const made = world(script, options);
  const boot: Processes["boot"] = (death, more = {}) => {
    const store = dyingStore(made.store, death);
    return { store, session: made.again({ store, ...more }) };
  };
  const factsOf: Processes["factsOf"] = async <Type extends Fact["type"]>(type: Type) =>
    (await made.facts()).filter((fact): fact is Extract<Fact, { readonly type: Type }> => fact.type === type);
  return {
    ...{ ...made, boot, factsOf },
    bootUntilClaim() {
      const store = dyingStore(made.store);
      const claim: DyingStore["log"]["claim"] = async (session, how) => {
        const outcome = await made.store.log.claim(session, how);
        store.kill();
        return new Promise<typeof outcome>(() => {});
      };
      return { store, session: made.again({ store: { ...store, log: { ...store.log, claim } } }) };
    },
    outlive: () => made.clock.advance(leaseMs + 1),
    finish: (session) => settled(resume(session).result(), made),
    client: () => createClient(made),
    count: async (type) => (await factsOf(type)).length,
    history: () => historyOf(made),
  };
}

async function historyOf({ store }: World, after?: EventCursor): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of readHistory(store, ref, after ? { after } : {})) events.push(...batch);
  return events;
}

function createClient(made: World): Client {
  const events: SessionEvent[] = [];
  let leave = (): void => {};
  onTestFinished(() => leave());
  const cursor = (): EventCursor | undefined => events.findLast((event): event is DurableEvent => "k" in event);
  const isNew = (event: SessionEvent, after: EventCursor | undefined): boolean =>
    !("k" in event) || !after || event.seq > after.seq || (event.seq === after.seq && event.k > after.k);
  return {
    events,
    async connect(session) {
      leave();
      const held: SessionEvent[] = [];
      let take = (news: readonly SessionEvent[]): void => void held.push(...news);
      leave = session.follow({ events: (news) => take(news) });
      await calm();
      events.push(...(await historyOf(made, cursor())));
      const read = cursor();
      events.push(...held.filter((event) => isNew(event, read)));
      take = (news) => void events.push(...news);
    },
    typesOf: (pattern) => events.map(({ type }) => type).filter((type) => pattern.test(type)),
  };
}

/**
 * Waits for a hash of its own. The ids of children are hashes, which threads beside the event loop make: where a busy machine gives these no time, time does
 * not pass here either.
 */
async function hashed(): Promise<void> {
  await crypto.subtle.digest("SHA-256", new Uint8Array(1));
}

/** Lets timers fire until it is settled. */
export async function settled<T>(promise: Promise<T>, { clock }: Pick<World, "clock">): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  promise.then(over, over);
  for (let round = 0; round < 200 && !isOver; round++) {
    await calm();
    await hashed();
    if (!isOver) clock.advance(250);
  }
  if (!isOver) throw new Error("It was never settled.");
  return promise;
}

/** Lets what is ready run until the process is dead. @throws Error when it lives on */
export async function untilDead({ store }: Process): Promise<void> {
  for (let round = 0; round < 20 && !store.isDead; round++) await calm();
  if (!store.isDead) throw new Error("It did not die.");
}
