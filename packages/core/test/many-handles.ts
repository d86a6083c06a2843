import { createHash } from "node:crypto";
import { AgentError } from "../src/errors.ts";
import {
  type AcceptedDecision,
  type AcceptedSubmission,
  type AgentEvent,
  type AgentSession,
  createAgent,
  createSession,
  defineTool,
  type ExecuteStream,
  execute,
  type Fact,
  type GateVerdict,
  resume,
  type SessionEvent,
  type SubmitOptions,
} from "../src/index.ts";
import { memoryChannel, memoryStore, type ScriptedTurn, scripted } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { seededRandom } from "../src/memory/seeded-random.ts";
import type { AppendOutcome, Clock, EventChannel, SessionLog, SessionStore } from "../src/ports/index.ts";
import { calm } from "./harness.ts";

/** A stream, whose it is, and what came of it. */
export interface WatchedStream {
  readonly process: Process;
  readonly text: string;
  readonly events: readonly AgentEvent[];
  /** Once all was calm. */
  outcome: "pending" | "resolved" | "rejected";
  isRead: boolean;
}

/** An input that was submitted without a stream, and what came of it. */
export interface Submission {
  readonly process: Process;
  readonly text: string;
  accepted: AcceptedSubmission | undefined;
  outcome: "pending" | "resolved" | "rejected";
}

/** A decision on a call that waited for approval, and what came of it. */
export interface Decision {
  readonly process: Process;
  readonly callKey: string;
  accepted: AcceptedDecision | undefined;
  outcome: "pending" | "resolved" | "rejected";
}

/** One process: a handle, its view of the store, its clock. */
export interface Process {
  readonly node: string;
  readonly session: AgentSession;
  readonly told: readonly SessionEvent[];
  /** What it heard as a follower that follows again whenever the store is lost; absent where it does not follow. */
  readonly followed: SessionEvent[] | undefined;
  isRested: boolean;
  /** May own the session: it did not begin as a mere watcher, and was not handed over. */
  drives: boolean;
  /** Dead: nothing it asks is answered, none of its timers fires. Let go: its handle was disposed. */
  state: "alive" | "dead" | "let go";
  /** Timers of its driver. */
  readonly pending: () => number;
}

export interface Outcome {
  readonly facts: readonly Fact[];
  readonly streams: readonly WatchedStream[];
  readonly submissions: readonly Submission[];
  readonly decisions: readonly Decision[];
  readonly processes: readonly Process[];
  /** Call keys of once tools, as often as they were started. */
  readonly onceStarts: readonly string[];
  readonly isLeased: boolean;
  /** Deltas that were heard by handles that never drive. */
  readonly foreignDeltas: number;
  readonly sent: readonly string[];
}

const ref = { scope: "local", session: "s" };
const leaseMs = 5_000;

/** Digests are made in this thread, so that a seed tells the same story every time. */
crypto.subtle.digest = async (_, data) =>
  new Uint8Array(
    createHash("sha256")
      .update(data as Uint8Array)
      .digest(),
  ).buffer;

/** A storm of inputs, aborts, answers, deaths and store faults over one session in two or three processes, then calm until it rests. */
export async function simulateHandles(seed: number): Promise<Outcome> {
  const storm = new Storm(seed);
  await storm.rage();
  await storm.settle();
  return storm.outcome();
}

class Storm {
  private readonly random: () => number;
  private readonly clock: ManualClock = manualClock();
  private readonly store: SessionStore = memoryStore({ clock: this.clock });
  private readonly channel: EventChannel = this.lossy(memoryChannel());
  private readonly processes: Process[] = [];
  private readonly streams: (WatchedStream & { readonly stream: ExecuteStream })[] = [];
  private readonly submissions: Submission[] = [];
  private readonly decisions: Decision[] = [];
  private readonly onceStarts: string[] = [];
  private readonly sent: string[] = [];
  private isStormy = true;
  private count = 0;
  private readonly agent: ReturnType<typeof createAgent>;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    const parameters = { type: "object" } as const;
    const work = (name: "pure" | "idempotent" | "once"): ReturnType<typeof defineTool> =>
      defineTool({
        name,
        description: name,
        parameters,
        replay: name,
        timeoutMs: 3_000,
        execute: async (_, { callKey, signal, progress }) => {
          if (name === "once") this.onceStarts.push(callKey);
          progress("begun");
          await this.takeTime(2_000);
          if (signal.aborted && this.isChance(0.5)) throw new Error("stopped");
          if (this.isChance(0.1)) throw new Error("failed");
          return `${name} done`;
        },
      });
    const client = defineTool({ name: "client", description: "Asks.", parameters });
    const tools = [work("pure"), work("idempotent"), work("once"), client];
    const provider = scripted(() => this.turn());
    const gate = async (): Promise<GateVerdict | undefined> => {
      if (this.isChance(0.3)) await this.takeTime(300);
      if (!this.isStormy || this.isChance(0.5)) return undefined;
      return { action: "ask", ...(this.isChance(0.5) ? { timeoutMs: 3_000 } : {}) };
    };
    this.agent = createAgent({ name: "a", provider, tools, hooks: [{ name: "gate", gate }], limits: { turnsMax: 4, abortGraceMs: 500 } });
  }

  private isChance(share: number): boolean {
    return this.random() < share;
  }

  private oneOf<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T;
  }

  private async takeTime(mostMs: number): Promise<void> {
    if (this.isChance(0.3)) await new Promise<void>((resolve) => void this.clock.after(this.random() * mostMs, resolve));
    await this.takeTurns();
  }

  private async takeTurns(): Promise<void> {
    for (let turns = Math.floor(this.random() * 6); turns > 0; turns--) await Promise.resolve();
  }

  /** What the model says when it is asked. */
  private turn(): ScriptedTurn {
    const after = this.takeTime(1_000);
    if (!this.isStormy) return { text: "calm", after };
    const name = (): string => this.oneOf(["pure", "idempotent", "once", "once", "client", "unknown"]);
    const calls = Array.from({ length: 1 + Math.floor(this.random() * 3) }, () => ({ name: name(), id: "" }));
    const dice = this.random();
    if (dice < 0.45) return { text: "let me", calls, after };
    if (dice < 0.55) return { text: "half", error: "MODEL_OVERLOADED", after };
    if (dice < 0.6) return { text: "half", breaksOff: true, after };
    if (dice < 0.65) return { error: "MODEL_AUTH", after };
    return { text: "an answer", after, chunkSize: 3 };
  }

  /** A channel that loses what it likes while it storms. */
  private lossy(channel: EventChannel): EventChannel {
    return {
      ...channel,
      publish: (session, events) => {
        const kept = events.filter(() => !(this.isStormy && this.isChance(0.05)));
        if (kept.length > 0) channel.publish(session, kept);
      },
    };
  }

  private start(mustDrive = false): Process {
    const node = `n${this.processes.length + 1}`;
    const told: SessionEvent[] = [];
    const timers = new Set<object>();
    const clock: Clock = {
      now: () => this.clock.now(),
      monotonic: () => this.clock.monotonic(),
      soon: (run) => this.clock.soon(() => process.state !== "dead" && run()),
      after: (ms, run) => {
        const timer = {};
        timers.add(timer);
        const cancel = this.clock.after(ms, () => {
          timers.delete(timer);
          if (process.state !== "dead") run();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    };
    const store = { ...this.store, log: this.logOf(() => process) };
    const ids = seededIds(1_000 * (this.processes.length + 1));
    const drives = mustDrive || this.isChance(0.7);
    const channel = this.isChance(0.7) ? { channel: this.channel } : {};
    const session = createSession({ agent: this.agent, id: ref.session, store, clock, ids, node, leaseMs, drives, ...channel });
    const followed = this.isChance(0.4) ? [] : undefined;
    const process: Process = { node, session, told, followed, isRested: false, drives, state: "alive", pending: () => timers.size };
    if (followed) this.follow(process, followed);
    session.subscribe((events) => told.push(...events));
    this.processes.push(process);
    return process;
  }

  private follow(process: Process, followed: SessionEvent[]): void {
    process.session.follow({
      events(events) {
        followed.push(...events);
        process.isRested = false;
      },
      rested: () => {
        process.isRested = true;
      },
      lost: (error) => {
        if (error.code !== "RUN_ABORTED") this.follow(process, followed);
      },
    });
  }

  /** The log as a process sees it: late, failing in every way it may, and silent once the process is dead. */
  private logOf(process: () => Process): SessionLog {
    const { log } = this.store;
    const never = new Promise<never>(() => {});
    const asked = async <T>(act: () => Promise<T>): Promise<T> => {
      await this.takeTurns();
      if (process().state === "dead") return never;
      if (this.isStormy && this.isChance(0.01)) throw new AgentError("STORE_UNAVAILABLE", { message: "A fault." });
      const value = await act();
      await this.takeTurns();
      return process().state === "dead" ? never : value;
    };
    const append = async (act: () => Promise<AppendOutcome>): Promise<AppendOutcome> => {
      const dice = this.isStormy ? this.random() : 1;
      if (dice < 0.02) process().state = "dead";
      else if (dice < 0.06) return { type: "unknown" };
      const outcome = await asked(act);
      if (dice < 0.08) {
        process().state = "dead";
        return never;
      }
      return dice < 0.12 ? { type: "unknown" } : outcome;
    };
    const isDeaf = this.isChance(0.3);
    return {
      append: (session, request) => append(() => log.append(session, request)),
      read: (session, options) => asked(() => log.read(session, options)),
      head: (session) => asked(() => log.head(session)),
      claim: (session, claim) => asked(() => log.claim(session, claim)),
      renew: (session, lease) => asked(() => log.renew(session, lease)),
      release: (session, epoch) => asked(() => log.release(session, epoch)),
      remove: (session) => asked(() => log.remove(session)),
      due: (options) => asked(() => log.due(options)),
      setDue: (session, options) => asked(() => log.setDue(session, options)),
      ...(isDeaf || !log.subscribe
        ? {}
        : {
            subscribe: (session, listener) =>
              (log.subscribe as NonNullable<SessionLog["subscribe"]>)(session, (seq) => process().state !== "dead" && listener(seq)),
          }),
    };
  }

  private watch(process: Process, text: string, stream: ExecuteStream): void {
    const events: AgentEvent[] = [];
    const watched = { process, text, stream, events, outcome: "pending" as WatchedStream["outcome"], isRead: false };
    stream.result().then(
      () => {
        watched.outcome = "resolved";
      },
      () => {
        watched.outcome = "rejected";
      },
    );
    const read = async (): Promise<void> => {
      for await (const event of stream) events.push(event);
    };
    void read()
      .catch(() => {})
      .then(() => {
        watched.isRead = true;
      });
    this.streams.push(watched);
  }

  private say(process: Process): void {
    const again = this.sent.length > 0 && this.isChance(0.15);
    const text = again ? this.oneOf(this.sent) : `input ${++this.count}`;
    if (!again) this.sent.push(text);
    const mode = this.oneOf(["enqueue", "enqueue", "steer", "interrupt", "reject"] as const);
    if (this.isChance(0.3)) this.submit(process, text, { idempotencyKey: text, mode });
    else this.watch(process, text, execute(process.session, text, { idempotencyKey: text, mode }));
  }

  private submit(process: Process, text: string, options: SubmitOptions): void {
    const submission: Submission = { process, text, accepted: undefined, outcome: "pending" };
    this.submissions.push(submission);
    process.session.submit(text, options).then(
      (accepted) => Object.assign(submission, { accepted, outcome: "resolved" }),
      () => Object.assign(submission, { outcome: "rejected" }),
    );
  }

  private answer(process: Process): void {
    const results = process.session.pendingToolCalls.map(({ toolCallId, callKey, toolName }) => ({
      role: "tool_result" as const,
      toolCallId,
      callKey,
      toolName,
      content: "yes",
    }));
    if (results.length > 0) this.watch(process, "answers", execute(process.session, results));
  }

  /** What waits for approval gets it, or not: often from several at once, who learn of each other. */
  private decide(process: Process): void {
    const { session } = process;
    for (const { callKey, argsDigest } of session.pendingApprovals) {
      const user = this.oneOf(["ada", "bob"]);
      const key = this.isChance(0.3) ? { idempotencyKey: `${callKey} ${user}` } : {};
      const decision: Decision = { process, callKey, accepted: undefined, outcome: "pending" };
      this.decisions.push(decision);
      const options = { decision: this.isChance(0.7) ? "allow" : "deny", argsDigest, access: { user, scope: ref.scope }, ...key } as const;
      session.decide(callKey, options).then(
        (accepted) => Object.assign(decision, { accepted, outcome: "resolved" }),
        () => Object.assign(decision, { outcome: "rejected" }),
      );
    }
  }

  private act(): void {
    const process = this.oneOf(this.processes.filter(({ state }) => state === "alive"));
    const dice = this.random();
    if (dice < 0.4) this.say(process);
    else if (dice < 0.5) this.answer(process);
    else if (dice < 0.6) this.decide(process);
    else if (dice < 0.66) void process.session.abort().catch(() => {});
    else if (dice < 0.72)
      void this.streams
        .at(-1)
        ?.stream.abort()
        .catch(() => {});
    else if (dice < 0.8) this.watch(process, "resume", resume(process.session));
    else if (dice < 0.85) void process.session.change({ title: `t${this.count}` }).catch(() => {});
    else if (dice < 0.9) process.state = "dead";
    else if (dice < 0.93) {
      process.state = "let go";
      void process.session[Symbol.asyncDispose]();
    } else if (dice < 0.96) {
      process.drives = false;
      void process.session.handOver();
    }
  }

  private async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 250) {
      await calm();
      this.clock.advance(Math.min(250, left));
    }
    await calm();
  }

  async rage(): Promise<void> {
    for (let step = 0; step < 25; step++) {
      while (this.processes.filter(({ state }) => state === "alive").length < 3) this.start();
      if (!this.processes.some(({ state, drives }) => state === "alive" && drives)) this.start(true);
      this.act();
      if (this.isChance(0.5)) await this.pass(this.random() * 1_500);
      else await this.takeTurns();
    }
  }

  /** No more faults: whoever is left brings the session to rest. */
  async settle(): Promise<void> {
    this.isStormy = false;
    await this.pass(leaseMs * 2);
    const last = this.start(true);
    for (let round = 0; round < 30; round++) {
      this.watch(last, "resume", resume(last.session));
      await this.pass(2_000);
      this.answer(last);
      this.decide(last);
      await this.pass(2_000);
      const { status, pendingToolCalls, pendingApprovals } = last.session;
      if (status !== "running" && pendingToolCalls.length + pendingApprovals.length === 0) return this.pass(10_000);
    }
  }

  async outcome(): Promise<Outcome> {
    const streams = this.streams.map((stream) => ({ ...stream }));
    const { facts, isLeased } = { facts: await this.store.log.read(ref), isLeased: (await this.store.log.head(ref)).lease !== undefined };
    const alive = this.processes.filter(({ state }) => state === "alive");
    for (const process of alive) await process.session[Symbol.asyncDispose]();
    await calm();
    return {
      facts,
      isLeased,
      foreignDeltas: this.processes.flatMap(({ drives, told }) => (drives ? [] : told.filter((event) => "lane" in event))).length,
      streams,
      submissions: this.submissions,
      decisions: this.decisions,
      processes: this.processes,
      onceStarts: this.onceStarts,
      sent: this.sent,
    };
  }
}
