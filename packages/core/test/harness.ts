import type { Agent, AgentEvent, AgentSession, AgentSettings, ExecuteStream, Fact, SessionOptions } from "../src/index.ts";
import { createAgent, createSession } from "../src/index.ts";
import { memoryStore, type ScriptedProvider, type ScriptedStep, type ScriptedTurn, scripted } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import type { ModelProvider, SessionStore } from "../src/ports/index.ts";

/** Options of the agent of a test, but its name. */
export type AgentParts = Partial<AgentSettings> & { readonly provider?: ModelProvider; readonly model?: string };

export type Script = readonly ScriptedStep[] | ((request: never, call: number) => ScriptedTurn);

export interface World {
  readonly provider: ScriptedProvider;
  readonly agent: Agent;
  readonly store: SessionStore;
  readonly clock: ManualClock;
  readonly session: AgentSession;
  /** Another handle on the same session, as another process would have it. */
  again(options?: Partial<SessionOptions>): AgentSession;
  facts(): Promise<readonly Fact[]>;
  types(): Promise<readonly string[]>;
}

/** One session over a scripted model, a memory store and a clock that stands still. */
export function world(script: Script, options: AgentParts & { readonly session?: Partial<SessionOptions> } = {}): World {
  const provider = scripted(script as readonly ScriptedStep[], { chunkSize: 4 });
  const { session: sessionOptions, ...agentOptions } = options;
  const agent = createAgent({ name: "tester", provider, ...agentOptions });
  const clock = manualClock();
  const store = sessionOptions?.store ?? memoryStore({ clock });
  let seed = 0;
  const again = (more: Partial<SessionOptions> = {}): AgentSession =>
    createSession({ agent, id: "s1", store, clock, ids: seededIds(++seed), node: `node${seed}`, ...sessionOptions, ...more });
  const session = again();
  const facts = (): Promise<readonly Fact[]> => store.log.read({ scope: "local", session: session.id });
  return { provider, agent, store, clock, session, again, facts, types: async () => (await facts()).map(({ type }) => type) };
}

/** Every event of a stream. */
export async function eventsOf(stream: ExecuteStream): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The events of one type. */
export function ofType<T extends AgentEvent["type"]>(events: readonly AgentEvent[], type: T): readonly Extract<AgentEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}

/** A promise and what settles it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Lets everything that is ready run, without time passing. */
export async function calm(): Promise<void> {
  for (let round = 0; round < 50; round++) await Promise.resolve();
  // What a turn of the event loop makes ready may want another one.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Whether a promise is settled once everything ready has run. */
export async function howStands(promise: Promise<unknown>): Promise<"resolved" | "rejected" | "pending"> {
  const settled = promise.then(
    () => "resolved" as const,
    () => "rejected" as const,
  );
  return Promise.race([settled, calm().then(() => "pending" as const)]);
}
