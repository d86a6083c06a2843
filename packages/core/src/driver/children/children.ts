/*
 * Owns: the children that user code of an owner has started: their links in the log, their sessions while they run here, and their ends.
 * Does not own: how a session runs (session), what the facts mean (the loop).
 * A child ends with the call that started it, or with the run whose hook started it. A process that loses the session lets its children go; the next
 * owner runs the user code again, and the same key attaches to the same child.
 */
import { type Agent, isAgent } from "../../agent/agent.ts";
import { AgentError, failureOf } from "../../errors.ts";
import { endsKeyed } from "../../loop/calls.ts";
import type { FactBody, ParentLink, RunBudget } from "../../loop/fact.ts";
import type { KeyedChild, Run, State } from "../../loop/state.ts";
import type { UserMessage } from "../../message/message.ts";
import { sha256 } from "../../message/sha256.ts";
import { shownId } from "../../message/shown-id.ts";
import { tokensOf } from "../../message/usage.ts";
import { checkInput } from "../../protocol/checked-input.ts";
import type { ChildResult } from "../../tools/child.ts";
import type { ChildSession, Deps } from "../setup/deps.ts";

/** The call, or the run, that a child belongs to. */
export interface ChildPlace {
  readonly runId: string;
  /** Absent: a hook starts it. */
  readonly callKey?: string;
}

/** What user code asks for. */
export interface ChildRequest {
  readonly key: string;
  readonly agent: unknown;
  readonly input: string | UserMessage;
  readonly budget?: RunBudget;
}

/** The session whose user code asks. */
export interface ChildHost {
  readonly state: State;
  /** Resolves when the log has the facts. */
  offer(bodies: (state: State) => readonly FactBody[]): Promise<unknown>;
}

interface Child {
  readonly place: ChildPlace;
  /** Agent and input, to compare. */
  readonly asked: string;
  readonly result: Promise<ChildResult>;
}

const keyMax = 200;

export class Children {
  readonly #deps: Deps;
  readonly #parent: ChildHost;
  /** Of the open run, by session; those that have ended as well, so that their key gives the same result. */
  readonly #children = new Map<string, Child>();
  readonly #sessions = new Map<string, ChildSession>();
  /** How often this process has lost the session. */
  #losses = 0;

  constructor(deps: Deps, parent: ChildHost) {
    this.#deps = deps;
    this.#parent = parent;
  }

  /** @throws AgentError as `ToolContext.child` does */
  async start(place: ChildPlace, { key, agent, input, budget }: ChildRequest): Promise<ChildResult> {
    if (typeof key !== "string" || key.trim() === "" || key.length > keyMax) throw badKey(key);
    if (!isAgent(agent)) throw noAgent(key);
    checkInput(input);
    const losses = this.#losses;
    const id = await childId(this.#deps.sessionId, place, key);
    if (losses !== this.#losses) return never();
    const asked = JSON.stringify([agent.name, input]);
    const known = this.#children.get(id);
    if (known) {
      if (known.asked === asked) return known.result;
      throw otherChild(key);
    }
    const result = this.#run(id, { place, key, agent, input, ...(budget ? { budget } : {}) });
    const child: Child = { place, asked, result };
    this.#children.set(id, child);
    // The same key may try again.
    result.catch(() => this.#children.get(id) === child && this.#children.delete(id));
    return result;
  }

  /** Stops the children of a call or a run that is over, or is being stopped. */
  onState(state: State): void {
    for (const [id, { place }] of this.#children) {
      const session = this.#sessions.get(id);
      if (isWanted(state, place) || isAhead(state, place)) continue;
      this.#children.delete(id);
      session?.abort();
    }
  }

  /** Lets the sessions go, for the next owner. What user code waits for is never settled: it is not asked any more. */
  leave(): void {
    this.#losses++;
    this.#children.clear();
    for (const session of this.#sessions.values()) void session.dispose();
    this.#sessions.clear();
  }

  async #run(
    id: string,
    { place, key, agent, input, budget: given }: ChildRequest & { place: ChildPlace; agent: Agent },
  ): Promise<ChildResult> {
    const losses = this.#losses;
    // The run of a first `prepare` may not be in the log yet: it is before this offer.
    await this.#parent.offer((state) => {
      checkDepth(state, openRun(state, place), { key, agent });
      const known = linked(openRun(state, place), place, key);
      if (known && known.agent !== agent.name) throw otherChild(key);
      if (known) return [];
      const budget = shareOf(openRun(state, place), given);
      return [{ type: "child.linked", ...place, session: id, agent: agent.name, key, ...(budget ? { budget } : {}) }];
    });
    if (losses !== this.#losses) return never();
    const { state } = this.#parent;
    const { access = this.#deps.access, labels, ...run } = openRun(state, place);
    const budget = linked(openRun(state, place), place, key)?.budget;
    const parent: ParentLink = { session: this.#deps.sessionId, ...place, ...depthBelow(state, run.limits), ...(budget ? { budget } : {}) };
    const session = this.#deps.openChild({ id, agent, access, parent });
    this.#sessions.set(id, session);
    try {
      const result = await session.run(input, { idempotencyKey: id, ...(labels ? { labels } : {}) });
      await this.#parent.offer((state) => endOf(state, place, result));
      return result;
    } catch (error) {
      if (losses === this.#losses) throw error;
      return never();
    } finally {
      if (losses === this.#losses && this.#sessions.delete(id)) void session.dispose();
    }
  }
}

/** The fact of its end, where the run still waits for it. Its words are in its own log. */
function endOf(state: State, place: ChildPlace, { session, status, usage, cost, toolCallCount, error }: ChildResult): readonly FactBody[] {
  const outcome = status === "completed" ? "ok" : status === "failed" ? "error" : "aborted";
  const spent = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(toolCallCount > 0 ? { toolCallCount } : {}) };
  const failure = error ? { failure: failureOf(error) } : {};
  const ended = { type: "child.finished", ...place, session, outcome, output: [], ...failure, ...spent } as const;
  return endsKeyed(state, { ...ended, seq: 0, at: 0, v: 2 }) ? [ended] : [];
}

/** What user code waits for that is not asked any more. */
const never = (): Promise<never> => new Promise(() => {});

const linked = ({ children = [] }: Run, { callKey }: ChildPlace, key: string): KeyedChild | undefined =>
  children.find((child) => child.key === key && child.callKey === callKey);

function isWanted({ run }: State, { runId, callKey }: ChildPlace): boolean {
  if (run?.runId !== runId || run.abort) return false;
  return callKey === undefined || run.calls.some(({ part, state }) => part.callKey === callKey && state !== "done");
}

/** The run is not in the log yet. */
const isAhead = ({ inputs }: State, { runId }: ChildPlace): boolean => inputs.some((input) => input.runId === runId);

/** Of a child of the open run. */
function depthBelow({ parent }: State, { depthMax }: Run["limits"]): { readonly depth: number; readonly depthMax: number } {
  return { depth: (parent?.depth ?? 0) + 1, depthMax: Math.min(depthMax, parent?.depthMax ?? depthMax) };
}

/**
 * What a child of the run may spend: what the run has left of its limits and of its own share, and at most what it is given; `undefined`: no limit.
 * @throws AgentError LIMIT_REACHED when nothing is left
 */
function shareOf(run: Run, given: RunBudget = {}): RunBudget | undefined {
  const { limits, budget = {}, usage, cost } = run;
  const { accounts } = { ...budget, ...given };
  const tokensMax = leftOf("tokens", [limits.tokensMax, budget.tokensMax], { spent: tokensOf(usage), given: given.tokensMax });
  const costUsdMax = leftOf("costUsd", [limits.costUsdMax, budget.costUsdMax], { spent: cost?.totalUsd ?? 0, given: given.costUsdMax });
  const share = {
    ...(tokensMax === undefined ? {} : { tokensMax }),
    ...(costUsdMax === undefined ? {} : { costUsdMax }),
    ...(accounts ? { accounts } : {}),
  };
  return Object.keys(share).length > 0 ? share : undefined;
}

/** @throws AgentError LIMIT_REACHED */
function leftOf(
  which: string,
  limits: readonly (number | undefined)[],
  { spent, given }: { readonly spent: number; readonly given: number | undefined },
): number | undefined {
  const left = limits.filter((limit) => limit !== undefined && limit > 0).map((limit) => (limit ?? 0) - spent);
  if (left.some((one) => one <= 0)) throw usedUp(which);
  const all = given === undefined || given <= 0 ? left : [...left, given];
  return all.length > 0 ? Math.min(...all) : undefined;
}

/** @throws AgentError LIMIT_REACHED */
function checkDepth(state: State, { limits }: Run, { key, agent }: { readonly key: string; readonly agent: Agent }): void {
  const below = depthBelow(state, limits);
  if (below.depth > below.depthMax) throw tooDeep(agent.name, key, below);
}

/** @throws AgentError */
function openRun(state: State, place: ChildPlace): Run {
  if (state.run?.runId === place.runId && isWanted(state, place)) return state.run;
  if (state.run?.runId === place.runId && state.run.abort) throw new AgentError("RUN_ABORTED", { message: "The run was stopped." });
  throw noRun();
}

/** The same for the same key of the same call, in each process. */
async function childId(session: string, { runId, callKey }: ChildPlace, key: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(JSON.stringify([session, runId, callKey ?? null, key])));
  return `child-${digest.slice(0, 40)}`;
}

export const noRun = (): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: "A child can only be started while its run is open.",
    fix: "Start it in a tool that still runs, or in the hook `prepare`, `parse`, `decide`, `gate` or `review`.",
  });

const badKey = (key: unknown): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `The key \`${shownId(String(key))}\` of a child is not usable.`,
    fix: `Use 1 to ${keyMax} characters, the same ones each time the call runs.`,
  });

const noAgent = (key: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `The child \`${shownId(key)}\` has no agent.`, fix: "Pass what `createAgent` gave." });

const otherChild = (key: string): AgentError =>
  new AgentError("KEY_REUSED", {
    message: `The child \`${shownId(key)}\` was started with another agent or another input.`,
    fix: "Give each child of a call, or of the hooks of a run, a key of its own.",
  });

const usedUp = (which: string): AgentError =>
  new AgentError("LIMIT_REACHED", {
    message: `No child was started: the run has used up its limit of \`${which}\`.`,
    fix: "Raise the limit of the agent, or answer with what there is.",
    retryable: false,
    details: { which },
  });

const tooDeep = (agent: string, key: string, { depth, depthMax }: { readonly depth: number; readonly depthMax: number }): AgentError =>
  new AgentError("LIMIT_REACHED", {
    message: `The child \`${shownId(key)}\` of the agent \`${agent}\` would have the depth ${depth}, and \`limits.depthMax\` is ${depthMax}.`,
    fix: "Raise `limits.depthMax` of the agents above it, or let this agent do the work itself.",
    retryable: false,
    details: { which: "depth", limit: depthMax, depth },
  });
