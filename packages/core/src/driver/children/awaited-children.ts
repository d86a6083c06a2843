/*
 * Owns: the children that user code of the session has started: their links in the log, their sessions while they run here, and their ends.
 * Does not own: how a session runs (session), what the facts mean (the loop).
 * A child ends with the call that started it, or with the run whose hook started it. A process that loses the session lets its children go; the next
 * owner runs the user code again, and the same key attaches to the same child.
 */
import type { Agent } from "../../agent/agent.ts";
import { isNamedIn } from "../../agent/child-agents.ts";
import type { EphemeralBody } from "../../loop/event.ts";
import type { FactBody, ParentLink, RememberedDecision, RunBudget } from "../../loop/fact.ts";
import type { KeyedChild, State } from "../../loop/state.ts";
import type { UserMessage } from "../../message/message.ts";
import type { ChildResult } from "../../tools/child-agent.ts";
import { rememberedIn } from "../setup/inherited-decisions.ts";
import type { ChildListeners, ChildSession, ChildSpending, Deps } from "../setup/session-deps.ts";
import { standInAgent } from "./agent-for-reading-only.ts";
import { shareOf } from "./child-budget-share.ts";
import { checkDepth, depthBelow } from "./child-depth.ts";
import { bodyOf, type ChildPlace, endFactsOf, waitingOf } from "./child-facts.ts";
import { addedUp, estimated } from "./child-spending.ts";
import { checkRequest, childId, isAhead, isWanted, linked, never, openRun, otherChild } from "./child-start-checks.ts";
import { retryUntilConfirmed } from "./retry-until-confirmed.ts";

/** The place of a child, and the function that publishes events of the call that starts the child. */
export interface ChildOrigin extends ChildPlace {
  readonly publish?: (event: EphemeralBody) => void;
}

/** The child that user code asks for. */
export interface ChildRequest {
  readonly key: string;
  readonly agent: unknown;
  readonly input: string | UserMessage;
  readonly budget?: RunBudget;
  readonly suspends?: boolean;
}

/** The session whose user code starts children. */
export interface ChildHost {
  readonly state: State;
  /** Resolves when the log has the facts. */
  offer(bodies: (state: State) => readonly FactBody[]): Promise<unknown>;
}

interface Child {
  readonly place: ChildPlace;
  /** Agent and input, to compare a repeated start with. */
  readonly asked: string;
  readonly result: Promise<ChildResult>;
  /** The seqs of the answers that were passed to the child. */
  readonly delivered: Set<number>;
}

export class AwaitedChildren {
  readonly #deps: Deps;
  readonly #parent: ChildHost;
  /** The children of the open run, by session. Children that have ended stay here, so that their keys give the same results. */
  readonly #children = new Map<string, Child>();
  readonly #sessions = new Map<string, ChildSession>();
  /** How often this process has lost the session. */
  #losses = 0;

  constructor(deps: Deps, parent: ChildHost) {
    this.#deps = deps;
    this.#parent = parent;
  }

  /** @throws AgentError as `ToolContext.child` does */
  async start({ publish, ...place }: ChildOrigin, { key, agent: given, input, budget, suspends }: ChildRequest): Promise<ChildResult> {
    const agent = checkRequest({ key, agent: given, input });
    const losses = this.#losses;
    const id = await childId(this.#deps.sessionId, place, key);
    if (losses !== this.#losses) return never();
    const asked = JSON.stringify([agent.name, input]);
    const known = this.#children.get(id);
    if (known) {
      if (known.asked === asked) return known.result;
      throw otherChild(key);
    }
    const listeners = this.#listenersOf(id, { place, agent, publish, suspends: suspends === true });
    const result = this.#run(id, { place, key, agent, input, listeners, ...(budget ? { budget } : {}), ...(suspends ? { suspends } : {}) });
    const child: Child = { place, asked, result, delivered: new Set() };
    this.#children.set(id, child);
    // After an error, the same key may start the child again.
    result.catch(() => this.#children.get(id) === child && this.#children.delete(id));
    return result;
  }

  /** Releases children that rest, passes answers to the others, and stops those whose call or run is over or is being stopped. */
  onState(state: State): void {
    for (const [id, child] of this.#children) {
      const { place } = child;
      const session = this.#sessions.get(id);
      if (rests(state, place)) this.#letGo(id);
      else if (this.#isNeeded(place)) this.#deliver(id, child, state);
      else {
        this.#children.delete(id);
        session?.abort();
      }
    }
  }

  /** Stops a child of a run that is being stopped, also if a process that died has started the child. Resolves with the fact of its end. */
  async stop(place: ChildPlace, { session: id, agent }: KeyedChild): Promise<FactBody> {
    const running = this.#sessions.get(id);
    const { run } = this.#parent.state;
    const { access = this.#deps.access } = run ?? {};
    const session =
      running ??
      this.#deps.openChild({ id, agent: standInAgent(agent), access, parent: { session: this.#deps.sessionId, ...place, depth: 1 } });
    let cancel = (): void => {};
    const patience = new Promise<undefined>((resolve) => {
      cancel = this.#deps.clock.after(run?.limits.abortGraceMs ?? 0, () => resolve(undefined));
    });
    try {
      const end = await Promise.race([session.stop(id), patience]);
      return bodyOf(place, end ?? { session: id, status: "aborted", ...estimated(session.spent()) });
    } finally {
      cancel();
      if (!running) void session.dispose();
    }
  }

  /** Releases a child that rests. Its call rests too, so the promise that the tool awaits is never settled. */
  #letGo(id: string): void {
    this.#children.delete(id);
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    void session?.dispose();
  }

  #deliver(id: string, { delivered }: Pick<Child, "delivered">, { run }: State): void {
    const session = this.#sessions.get(id);
    const { answers = [] } = run?.children?.find((child) => child.session === id) ?? {};
    for (const answer of session ? answers : []) {
      if (delivered.has(answer.seq)) continue;
      delivered.add(answer.seq);
      session?.answer(answer).catch((error: unknown) =>
        this.#deps.logger.log("warn", "An answer for a child was refused.", {
          session: id,
          callKey: answer.callKey,
          error: String(error),
        }),
      );
    }
  }

  #listenersOf(id: string, { place, agent, publish, suspends }: Listening): ChildListeners {
    const { callKey } = place;
    const { workers, ref, bound } = this.#deps;
    // Only this process has the content that the child's agent does not store, and the decisions that the sessions above the child remember.
    const isPortable = isNamedIn(bound.agent, agent) && !agent.data && rememberedIn(this.#deps, this.#parent.state).length === 0;
    const isSpread = workers?.areMany && isPortable;
    return {
      ...(isSpread ? { offer: () => workers.offer({ scope: ref.scope, session: id }) } : {}),
      events: (events) => {
        if (callKey !== undefined && publish)
          for (const event of events) publish({ type: "agent_delta", callKey, session: id, agent: agent.name, event });
      },
      waits: (waits, isResting) => {
        const losses = this.#losses;
        this.#parent
          .offer((state) =>
            losses === this.#losses && this.#sessions.has(id) ? waitingOf(state, place, { id, waits, rests: suspends && isResting }) : [],
          )
          .catch(() => {});
      },
    };
  }

  /** What the children that run here have spent and the log does not have yet. */
  spent(): ChildSpending {
    const ended = new Set(this.#parent.state.run?.children?.flatMap(({ session, isDone }) => (isDone ? [session] : [])));
    return addedUp([...this.#sessions].flatMap(([id, session]) => (ended.has(id) ? [] : [session.spent()])));
  }

  /** Releases the sessions for the next owner. Promises that user code awaits are never settled, because its result is not used any more. */
  leave(): void {
    this.#losses++;
    this.#children.clear();
    for (const session of this.#sessions.values()) void session.dispose();
    this.#sessions.clear();
  }

  /** True if the call or run of the child is open, or not in the log yet. */
  #isNeeded(place: ChildPlace): boolean {
    const { state } = this.#parent;
    return isWanted(state, place) || isAhead(state, place);
  }

  async #run(id: string, { place, key, agent, input, listeners, budget: given, suspends }: Started): Promise<ChildResult> {
    const losses = this.#losses;
    const surely = <T>(work: () => Promise<T>): Promise<T> =>
      retryUntilConfirmed(this.#deps.clock, work, () => losses === this.#losses && this.#isNeeded(place));
    // If the first `prepare` of a run starts the child, the log may not have the run yet. The run is recorded before this offer.
    const link = (state: State): readonly FactBody[] => {
      checkDepth(state, openRun(state, place), { key, agent });
      const known = linked(openRun(state, place), place, key);
      if (known && (known.agent !== agent.name || known.background)) throw otherChild(key);
      if (known) return [];
      const budget = shareOf(openRun(state, place), { given, callKey: place.callKey, isAlone: suspends === true });
      return [{ type: "child.linked", ...place, session: id, agent: agent.name, key, ...(budget ? { budget } : {}) }];
    };
    await surely(() => this.#parent.offer(link));
    if (losses !== this.#losses) return never();
    const { state } = this.#parent;
    const { access = this.#deps.access, labels, ...run } = openRun(state, place);
    const budget = linked(openRun(state, place), place, key)?.budget;
    const parent: ParentLink = { session: this.#deps.sessionId, ...place, ...depthBelow(state, run.limits), ...(budget ? { budget } : {}) };
    const remembered = (): readonly RememberedDecision[] => rememberedIn(this.#deps, this.#parent.state);
    const session = this.#deps.openChild({ id, agent, access, parent, remembered });
    this.#sessions.set(id, session);
    try {
      const child = this.#children.get(id);
      const running = surely(() => session.run([input, { idempotencyKey: id, ...(labels ? { labels } : {}) }], listeners));
      if (child) this.#deliver(id, child, this.#parent.state);
      const result = await running;
      await surely(() => this.#parent.offer((state) => endFactsOf(state, place, result)));
      return result;
    } catch (error) {
      if (losses === this.#losses && this.#sessions.get(id) === session) throw error;
      return never();
    } finally {
      if (this.#sessions.get(id) === session) {
        this.#sessions.delete(id);
        void session.dispose();
      }
    }
  }
}

interface Listening {
  readonly place: ChildPlace;
  readonly agent: Agent;
  readonly publish: ChildOrigin["publish"];
  readonly suspends: boolean;
}

interface Started extends ChildRequest {
  readonly place: ChildPlace;
  readonly agent: Agent;
  readonly listeners: ChildListeners;
}

/** True if the call no longer runs here, because its child rests. */
const rests = ({ run }: State, { runId, callKey }: ChildPlace): boolean =>
  run?.runId === runId && !run.abort && run.calls.some(({ part, state }) => part.callKey === callKey && state === "awaiting_child");
