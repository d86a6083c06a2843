/*
 * Owns: one replay: the real runtime on a store in memory, a clock and ids that the recorded log sets, one process for each recorded owner.
 * Does not own: what models and tools answer (replayed-agent), the comparison (RecordedCourse).
 */
import { type Agent, AgentError, type CallGuard, createAgent, createSession, type Fact } from "@loopwright/core";
import { memoryStore, seededIds, silentLogger } from "@loopwright/core/memory";
import type { IdSource, SessionRef, SessionStore } from "@loopwright/core/ports";
import type { Divergence } from "./divergence.ts";
import { digestInOrder } from "./in-order-digests.ts";
import { isGiven, RecordedCourse } from "./recorded-course.ts";
import { createReplayClock, type ReplayClock } from "./replay-clock.ts";
import { type ReplayProcess, replayStore } from "./replay-store.ts";
import { replayedAgent } from "./replayed-agent.ts";

export interface ReplaySessionOptions {
  /** The whole log of the session. */
  readonly facts: readonly Fact[];
  /** The agent to run again. Its models and tools are not called. */
  readonly agent: Agent;
  /** The id of the session: requests to a model depend on it. */
  readonly session: string;
  /** Texts of the log were replaced: what follows from their length, and digests of them, are not compared. */
  readonly isRedacted?: true;
  /** How long a hook of the agent may work before the replay is considered to stand still, in real milliseconds. Default 2,000. */
  readonly realWaitMs?: number;
}

/** The result of a replay. */
export interface ReplayReport {
  /** True if the new log is the recorded one, fact by fact. */
  readonly isIdentical: boolean;
  /** Facts that both logs have, from the first one on. */
  readonly equal: number;
  /** Where they part. */
  readonly divergence?: Divergence;
}

/**
 * Runs a recorded session again: what people and clients did, and what models and tools answered, is taken from the log; everything else is decided
 * anew by the runtime, the prompt and the hooks of the agent, and compared with the log. It ends with the log, or at the first fact that differs.
 * @throws AgentError CONFIG_INVALID for a log that cannot be replayed
 */
export async function replaySession(options: ReplaySessionOptions): Promise<ReplayReport> {
  checkFacts(options.facts);
  const stop = digestInOrder();
  const replay = new Replay(options);
  try {
    return await replay.run();
  } finally {
    replay.end();
    stop();
  }
}

function checkFacts(facts: readonly Fact[]): void {
  const refuse = (message: string): never => {
    throw new AgentError("CONFIG_INVALID", { message, fix: "Give the whole log of one session, as it was exported." });
  };
  if (!facts.some(({ type }) => type === "session.opened")) refuse("The log has no `session.opened`.");
  for (const [at, fact] of facts.entries()) if (fact.seq !== at + 1) refuse(`Fact ${at + 1} of the log has the number ${fact.seq}.`);
}

/** True if the session ran in a deployment that chooses models: it records the owner of each key, also without a chain. */
const isAskedForModels = (facts: readonly Fact[]): boolean =>
  facts.some((fact) => fact.type === "model.started" && fact.keyOwner !== undefined) &&
  facts.every((fact) => fact.type !== "run.started" || fact.chain === undefined);

class Replay {
  readonly #options: ReplaySessionOptions;
  readonly #course: RecordedCourse;
  readonly #store: SessionStore = memoryStore();
  readonly #ref: SessionRef;
  /** One for all processes, since the store knows each batch by its id. */
  readonly #ids: IdSource = seededIds(1);
  #process: (ReplayProcess & { readonly clock: ReplayClock; readonly handOver: () => void; readonly close: () => void }) | undefined;

  constructor(options: ReplaySessionOptions) {
    this.#options = options;
    this.#course = new RecordedCourse(options.facts, options.isRedacted);
    this.#ref = { scope: "local", session: options.session };
  }

  async run(): Promise<ReplayReport> {
    const course = this.#course;
    while (course.next && !course.divergence) {
      if (course.next.type === "owner.claimed") await this.#takeOver(course.next);
      else if (isGiven(course.next)) await this.#giveNext();
      else if (!(await this.#moves())) {
        course.divergence ??= { seq: course.next.seq, recorded: course.next, members: [] };
      }
      await this.#quiet();
    }
    const { divergence, position } = course;
    return {
      isIdentical: divergence === undefined,
      equal: divergence ? divergence.seq - 1 : position,
      ...(divergence ? { divergence } : {}),
    };
  }

  end(): void {
    this.#stopProcess();
  }

  /** Writes the given fact that comes next, as another process would. */
  readonly #giveNext = async (): Promise<void> => {
    const fact = this.#course.next;
    if (!fact) return;
    if (fact.type === "abort.requested") await this.#moved(() => !this.#course.isTooEarlyFor(fact));
    // It may have been given meanwhile.
    if (fact !== this.#course.next) return;
    await this.#store.log.append(this.#ref, { expectedSeq: fact.seq - 1, batchId: `given ${fact.seq}`, facts: [fact] });
    this.#course.advance(1);
  };

  /** The process that owned the session then; the one before it has died. */
  async #takeOver(claim: Extract<Fact, { type: "owner.claimed" }>): Promise<void> {
    this.#stopProcess();
    await this.#giveNext();
    const { agent, session } = this.#options;
    const course = this.#course;
    const process: ReplayProcess = { isAlive: true };
    const clock = createReplayClock(course);
    const settle = async (): Promise<void> => {
      clock.ring();
      await this.#quiet();
    };
    const handle = createSession({
      agent: isOnlyStopped(course) ? standIn(agent.name) : replayedAgent(agent, course),
      id: session,
      store: replayStore({
        inner: this.#store,
        ref: this.#ref,
        course,
        process,
        epoch: claim.epoch ?? 0,
        giveNext: this.#giveNext,
        settle,
      }),
      clock,
      ids: this.#ids,
      logger: silentLogger,
      callGuard: recordedWaits(course),
      // The key owner is recorded where a deployment chooses models. One that has chosen none of its own is enough for the platform's.
      ...(isAskedForModels(this.#options.facts) ? { resolveModel: () => undefined } : {}),
      node: claim.node,
      leaseMs: leaseMsMax,
      snapshotCheckShare: 0,
    });
    const leave = handle.follow({ events() {} });
    this.#process = Object.assign(process, {
      clock,
      handOver: () => void handle.handOver().catch(() => {}),
      close() {
        leave();
        void handle[Symbol.asyncDispose]().catch(() => {});
      },
    });
    await handle.ready();
  }

  #stopProcess(): void {
    if (!this.#process) return;
    this.#process.isAlive = false;
    this.#process.close();
    this.#process.clock.stop();
    this.#process = undefined;
  }

  /** False: nothing comes, although every timer has rung and the agent's own code had its time. */
  async #moves(): Promise<boolean> {
    const course = this.#course;
    const { position } = course;
    if (course.next && isHandOver(course.next)) this.#process?.handOver();
    const hasMoved = (): boolean => course.position !== position || course.divergence !== undefined;
    for (let round = 0; round < roundsMax; round++) {
      await this.#quiet();
      if (hasMoved()) return true;
      const { clock } = this.#process ?? {};
      if (clock?.ring() === 0 && clock.ring(true) === 0) break;
    }
    return this.#moved(hasMoved);
  }

  /** Resolves with true when it has; after the time that the agent's own code may take, with false. */
  async #moved(has: () => boolean): Promise<boolean> {
    const { realWaitMs = 2_000 } = this.#options;
    for (const until = performance.now() + realWaitMs; !has(); ) {
      if (performance.now() >= until) return false;
      await turn();
    }
    return true;
  }

  /** Waits until nothing has happened for some turns of the process. */
  async #quiet(): Promise<void> {
    let seen = -1;
    for (let still = 0; still < quietTurns; still++) {
      if (this.#course.activity !== seen) still = 0;
      seen = this.#course.activity;
      await turn();
    }
  }
}

/** No lease ends within a replay: the log has the owners. */
const leaseMsMax = 2 ** 31 - 1;
const quietTurns = 3;
/** How often timers may set others before the next fact comes. */
const roundsMax = 8;

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** True if the process that takes over opened the session only to stop its runs, as a parent without the agent of its child does. */
function isOnlyStopped(course: RecordedCourse): boolean {
  const started = course.ahead((fact): fact is Extract<Fact, { type: "run.started" }> => fact.type === "run.started");
  return started?.provider === noModel && started.model === noModel;
}

const noModel = "none";

/** The agent with which the runtime opens such a session. */
const standIn = (name: string): Agent =>
  createAgent({
    name,
    provider: {
      name: noModel,
      defaultModel: noModel,
      capabilities: () => ({ streaming: false, tools: false, vision: false, promptCaching: false }),
      stream() {
        throw new AgentError("CONFIG_INVALID", { message: "The recorded process called no model here." });
      },
    },
  });

/** True for the end of an attempt that its process gave up because it was leaving. */
const isHandOver = (fact: Fact): boolean => fact.type === "model.failed" && fact.failure.code === "HANDED_OVER";

/** Every call is admitted, since the log has the refusals; each retry waits as long as it did. */
function recordedWaits(course: RecordedCourse): CallGuard {
  return {
    admit: () => ({ call: { answered: () => {}, left: () => {}, judge: (failure) => failure } }),
    waitMs() {
      const wait = course.ahead((fact): fact is Extract<Fact, { type: "wait.scheduled" }> => fact.type === "wait.scheduled");
      return wait ? Math.max(0, wait.until - wait.at) : 0;
    },
  };
}
