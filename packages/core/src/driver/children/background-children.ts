/*
 * Owns: the children in the background of one session: their links, their beginnings, and the reports of their ends.
 * Does not own: children that a call waits for (awaited-children), what the facts mean (loop/children/background-children).
 * A child in the background has its own owner: a process that the queue or a sweep gives the child to, or, if there is none, the process that has
 * the parent loaded. Any process may report the end of the child; the log of the parent takes the report once.
 */

import type { Agent } from "../../agent/agent.ts";
import { childAgent, isNamedIn } from "../../agent/child-agents.ts";
import { AgentError, isAgentError } from "../../errors.ts";
import { backgroundChild, backgroundLimits } from "../../loop/children/background-children.ts";
import { resumedCall } from "../../loop/children/waits-of-children.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { BackgroundChild, Run, State } from "../../loop/state.ts";
import type { UserMessage } from "../../message/message.ts";
import { shownId } from "../../message/shown-id.ts";
import type { ChildResult, SpawnedChild } from "../../tools/child-agent.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { ChildSession, Deps } from "../setup/session-deps.ts";
import { standInAgent } from "./agent-for-reading-only.ts";
import type { ChildRequest } from "./awaited-children.ts";
import { reportOf } from "./background-report.ts";
import { shareOf } from "./child-budget-share.ts";
import { checkDepth } from "./child-depth.ts";
import type { ChildPlace } from "./child-facts.ts";
import { checkRequest, childId, linked, never, openRun, otherChild } from "./child-start-checks.ts";
import { retryUntilConfirmed } from "./retry-until-confirmed.ts";

/** The session that has the children. */
export interface BackgroundHost {
  readonly state: State;
  readonly isOwner: boolean;
  /** Resolves when the log has the facts. */
  offer(bodies: (state: State) => readonly FactBody[]): Promise<unknown>;
  /** Like `offer`, for an input. Its run begins here if this handle drives the session. */
  report(bodies: (state: State) => readonly FactBody[]): Promise<unknown>;
  /** Notifies the watchers of the session, because a child in its background has come to rest. */
  settle(): void;
}

export class BackgroundChildren {
  readonly #deps: Deps;
  readonly #parent: BackgroundHost;
  /** The children that run here because no worker runs them. */
  readonly #running = new Map<string, ChildSession>();
  /** Agent and input of each child that this process has started in the open run, to compare a repeated start with. */
  readonly #asked = new Map<string, string>();
  /** The children that are left to a worker for a moment. */
  readonly #offered = new Set<string>();
  /** The children that run here and wait for a person or a client. */
  readonly #resting = new Set<string>();
  /** The children that are being stopped. */
  readonly #stopping = new Set<string>();
  /** True if the parent is being stopped: no run will read the reports of the children. */
  #isStopped = false;
  /** True if this process waits for the end of the parent. */
  #isAttended = false;
  /** How often this process has lost the session. */
  #losses = 0;

  constructor(deps: Deps, parent: BackgroundHost) {
    this.#deps = deps;
    this.#parent = parent;
  }

  /** @throws AgentError as `ToolContext.spawn` does */
  async start(place: ChildPlace, { key, input, budget: given, ...request }: ChildRequest): Promise<SpawnedChild> {
    const agent = checkRequest({ key, input, agent: request.agent });
    if (!isNamedIn(this.#deps.bound.agent, agent)) throw notNamed(key, agent);
    const losses = this.#losses;
    const session = await childId(this.#deps.sessionId, place, key);
    if (losses !== this.#losses) return never();
    const asked = JSON.stringify([agent.name, input]);
    if ((this.#asked.get(session) ?? asked) !== asked) throw otherChild(key);
    this.#asked.set(session, asked);
    const message: UserMessage = typeof input === "string" ? { role: "user", content: input } : input;
    const link = (state: State): readonly FactBody[] => {
      const run = openRun(state, place);
      const known = linked(run, place, key);
      if (known && (known.agent !== agent.name || !known.background)) throw otherChild(key);
      if (known) return [];
      checkDepth(state, run, { key, agent });
      checkRoom(state, run);
      const budget = shareOf(run, { given, callKey: place.callKey, isAlone: false });
      const more = { key, background: { input: message }, ...(budget ? { budget } : {}) };
      return [{ type: "child.linked", ...place, session, agent: agent.name, ...more }];
    };
    await this.#surely(() => this.#parent.offer(link));
    return losses === this.#losses ? { session } : never();
  }

  /** Gives the child its input. Resolves with the fact of the start; `undefined`: not started, so its end is reported, or the next owner starts it. */
  async begin(child: BackgroundChild): Promise<FactBody | undefined> {
    const { runId, callKey, session: id, input, labels } = child;
    const losses = this.#losses;
    try {
      if (this.#isStopped) {
        await this.#end(child);
        return undefined;
      }
      const agent = childAgent(this.#deps.bound.agent, child.agent);
      if (!agent) throw noAgent(child, this.#deps);
      const { workers, ref } = this.#deps;
      const session = this.#open(child, agent, workers === undefined);
      const options = { idempotencyKey: id, ...(labels ? { labels } : {}) };
      if (input) await this.#surely(() => session.begin([input, options]));
      if (losses !== this.#losses) void session.dispose();
      else if (workers === undefined) this.#follow(child, session);
      else {
        void session.dispose();
        await workers.offer({ scope: ref.scope, session: id });
      }
      return { type: "child.waiting", runId, ...(callKey === undefined ? {} : { callKey }), session: id, waits: [] };
    } catch (error) {
      // The next owner starts the child again, so this error does not end the child.
      if (losses !== this.#losses) return undefined;
      await this.#report(child, {
        status: "failed",
        session: id,
        text: "",
        toolCallCount: 0,
        error: isAgentError(error) ? error : unexpected(id, error),
      });
      return undefined;
    }
  }

  /** True if all children rest, and workers will continue them and what waits for them. */
  get rests(): boolean {
    const { background = [] } = this.#parent.state;
    return this.#deps.workers !== undefined && background.every(({ session, input }) => !input && this.#resting.has(session));
  }

  /** Reports the end, if there is one, of a child that has run elsewhere. If the child is not in the background, resumes the call that rests for it. */
  async collect(id: string): Promise<unknown> {
    // An empty offer reads the log to its end first.
    await this.#surely(() => this.#parent.offer(() => []));
    const child = backgroundChild(this.#parent.state, id);
    if (!child) return this.#surely(() => this.#parent.report((state) => resumedCall(state, id)));
    const session = this.#open(child, childAgent(this.#deps.bound.agent, child.agent) ?? standInAgent(child.agent), false);
    try {
      const result = await session.result(id);
      return result && this.#report(child, result);
    } finally {
      void session.dispose();
    }
  }

  /** Continues the children that no worker runs, once this process owns the parent, or waits for the end of the parent. */
  onState({ background = [], run, status }: State): void {
    if (!run) this.#asked.clear();
    const { workers } = this.#deps;
    if (background.length === 0 || status === "closed" || !(this.#isAttended || (!workers && this.#parent.isOwner))) return;
    for (const { session, input } of background) {
      if (input || this.#running.has(session) || this.#offered.has(session)) continue;
      if (workers) this.#followLater(session);
      else this.#followHere(session);
    }
  }

  /** Continues children here if no worker does so soon: this process waits for the end of the parent, and if every worker waits like this, none is free. */
  attend(): void {
    this.#isAttended = true;
    this.onState(this.#parent.state);
  }

  /** Leaves the child to a worker for a moment, then runs it here. */
  #followLater(session: string): void {
    const losses = this.#losses;
    this.#offered.add(session);
    this.#deps.clock.after(driverLimits.offeredMs, () => {
      if (losses !== this.#losses) return;
      this.#offered.delete(session);
      if (!this.#isStopped) this.#followHere(session);
    });
  }

  #followHere(session: string): void {
    const child = this.#running.has(session) ? undefined : backgroundChild(this.#parent.state, session);
    const agent = child && childAgent(this.#deps.bound.agent, child.agent);
    if (agent) this.#follow(child, this.#open(child, agent, true));
  }

  /** Stops the children that have begun, and all that these have started. A child that has not begun is stopped after its beginning. */
  stop(): void {
    this.#isStopped = true;
    for (const child of this.#parent.state.background ?? []) {
      const { session: id } = child;
      if (child.input || this.#stopping.has(id)) continue;
      this.#stopping.add(id);
      const losses = this.#losses;
      this.#end(child).catch((error: unknown) => {
        if (losses !== this.#losses) return;
        this.#stopping.delete(id);
        this.#deps.logger.log("warn", "A child in the background could not be stopped.", { session: id, error: String(error) });
      });
    }
  }

  async #end(child: BackgroundChild): Promise<void> {
    const running = this.#running.get(child.session);
    const session = running ?? this.#open(child, standInAgent(child.agent), true);
    const losses = this.#losses;
    try {
      const result = await this.#surely(() => session.stop(child.session));
      if (losses === this.#losses) await this.#report(child, result ?? notBegun(child));
    } finally {
      if (!running) void session.dispose();
    }
  }

  /** Releases the sessions of the children for the next owner. */
  leave(): void {
    this.#losses++;
    this.#offered.clear();
    this.#stopping.clear();
    this.#resting.clear();
    this.#isStopped = false;
    this.#isAttended = false;
    this.#asked.clear();
    for (const session of this.#running.values()) void session.dispose();
    this.#running.clear();
  }

  #open({ session: id, runId, callKey, depthMax, budget, access }: BackgroundChild, agent: Agent, drives: boolean): ChildSession {
    const depth = (this.#parent.state.parent?.depth ?? 0) + 1;
    const place = { session: this.#deps.sessionId, runId, ...(callKey === undefined ? {} : { callKey }) };
    const parent = { ...place, depth, depthMax, background: true as const, ...(budget ? { budget } : {}) };
    return this.#deps.openChild({ id, agent, access: access ?? this.#deps.access, parent, ...(drives ? {} : { drives }) });
  }

  /** Runs the child here to its end, and reports the end. */
  #follow(child: BackgroundChild, session: ChildSession): void {
    const { session: id } = child;
    this.#running.set(id, session);
    const isOurs = (): boolean => this.#running.get(id) === session;
    const over = async (): Promise<void> => {
      const waits = (_: unknown, rests: boolean): void => this.#note(id, rests && isOurs());
      const result = await retryUntilConfirmed(this.#deps.clock, () => session.end(id, { waits }), isOurs);
      if (!isOurs()) return;
      await this.#report(child, result ?? notBegun(child));
    };
    over()
      .catch((error: unknown) => {
        if (isOurs())
          this.#deps.logger.log("warn", "The end of a child in the background was not noticed.", { session: id, error: String(error) });
      })
      .finally(() => {
        if (!isOurs()) return;
        this.#running.delete(id);
        void session.dispose();
      });
  }

  #note(id: string, rests: boolean): void {
    if (!rests) this.#resting.delete(id);
    else if (!this.#resting.has(id)) {
      this.#resting.add(id);
      this.#parent.settle();
    }
  }

  async #report({ session }: BackgroundChild, result: ChildResult): Promise<void> {
    const { ids } = this.#deps;
    const made = { inputId: ids.next(), runId: ids.next() };
    await this.#surely(() => this.#parent.report((state) => reportOf(state, { session, result, isStopped: this.#isStopped, ...made })));
  }

  #surely<T>(work: () => Promise<T>): Promise<T> {
    const losses = this.#losses;
    return retryUntilConfirmed(this.#deps.clock, work, () => losses === this.#losses);
  }
}

/** @throws AgentError LIMIT_REACHED */
function checkRoom({ background = [] }: State, { round = 0 }: Run): void {
  const { children, rounds } = backgroundLimits;
  if (background.length >= children)
    throw tooMany("children", children, `${children} children of the session run in the background already.`);
  if (round >= rounds) throw tooMany("rounds", rounds, `Reports of children have started ${rounds} runs in a row, this one included.`);
}

const tooMany = (which: string, limit: number, why: string): AgentError =>
  new AgentError("LIMIT_REACHED", {
    message: `No child was started in the background: ${why}`,
    fix: "Do the work in this run, or answer without this child.",
    retryable: false,
    details: { which, limit },
  });

const notNamed = (key: string, { name }: Agent): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The child \`${shownId(key)}\` cannot run in the background: another process would not find its agent \`${name}\`.`,
    fix: "Name this agent in `agents` of the tool, or of the set of hooks, that starts it, and give no other agent there the same name.",
  });

const noAgent = ({ agent }: BackgroundChild, { bound }: Deps): AgentError =>
  new AgentError("AGENT_NOT_FOUND", {
    message: `No tool and no hook of the agent \`${bound.agent.name}\` names the agent \`${shownId(agent)}\` any more.`,
    fix: "Name it in `agents` of the tool, or of the set of hooks, that starts it.",
  });

const unexpected = (session: string, cause: unknown): AgentError =>
  new AgentError("INTERNAL", { message: `The child \`${session}\` could not be begun.`, cause });

const notBegun = ({ session }: BackgroundChild): ChildResult => {
  const error = new AgentError("SESSION_NOT_FOUND", { message: `The session \`${session}\` of the child was removed: it has no input.` });
  return { status: "failed", session, text: "", toolCallCount: 0, error };
};
