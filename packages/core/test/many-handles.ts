import { createHash } from "node:crypto";
import {
  type Agent,
  type AgentEvent,
  createSession,
  type ExecuteStream,
  execute,
  resume,
  type SessionEvent,
  type SubmitOptions,
} from "../src/index.ts";
import { memoryChannel, memoryStore } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import { seededRandom } from "../src/memory/seeded-random.ts";
import type { Clock, EventChannel, SessionStore } from "../src/ports/index.ts";
import { calm } from "./harness.ts";
import type { Decision, Outcome, Process, Submission, WatchedStream } from "./many-handles-outcome.ts";
import { StormDice } from "./storm-dice.ts";
import { stormyAgent } from "./stormy-agent.ts";
import { lossyChannel, stormyLog } from "./stormy-ports.ts";

const ref = { scope: "local", session: "s" };
const leaseMs = 5_000;

/** Digests are made in this thread, so that a seed has the same course every time. */
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
  private readonly dice: StormDice;
  private readonly clock: ManualClock = manualClock();
  private readonly store: SessionStore = memoryStore({ clock: this.clock });
  private readonly channel: EventChannel;
  private readonly processes: Process[] = [];
  private readonly streams: (WatchedStream & { readonly stream: ExecuteStream })[] = [];
  private readonly submissions: Submission[] = [];
  private readonly decisions: Decision[] = [];
  private readonly onceStarts: string[] = [];
  private readonly sent: string[] = [];
  private count = 0;
  private readonly agent: Agent;

  constructor(seed: number) {
    this.dice = new StormDice(seededRandom(seed), this.clock);
    this.channel = lossyChannel(memoryChannel(), this.dice);
    this.agent = stormyAgent(this.dice, this.onceStarts);
  }

  private start(mustDrive = false): Process {
    const node = `n${this.processes.length + 1}`;
    const published: SessionEvent[] = [];
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
    const store = { ...this.store, log: stormyLog(this.store.log, this.dice, () => process) };
    const ids = seededIds(1_000 * (this.processes.length + 1));
    const drives = mustDrive || this.dice.isChance(0.7);
    const channel = this.dice.isChance(0.7) ? { channel: this.channel } : {};
    const session = createSession({ agent: this.agent, id: ref.session, store, clock, ids, node, leaseMs, drives, ...channel });
    const followed = this.dice.isChance(0.4) ? [] : undefined;
    const process: Process = { node, session, published, followed, isRested: false, drives, state: "alive", pending: () => timers.size };
    if (followed) this.follow(process, followed);
    session.subscribe((events) => published.push(...events));
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
    const again = this.sent.length > 0 && this.dice.isChance(0.15);
    const text = again ? this.dice.oneOf(this.sent) : `input ${++this.count}`;
    if (!again) this.sent.push(text);
    const mode = this.dice.oneOf(["enqueue", "enqueue", "steer", "interrupt", "reject"] as const);
    if (this.dice.isChance(0.3)) this.submit(process, text, { idempotencyKey: text, mode });
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

  /** What waits for approval gets it, or not: often from several users at once, each of which learns of the others. */
  private decide(process: Process): void {
    const { session } = process;
    for (const { callKey, argsDigest } of session.pendingApprovals) {
      const user = this.dice.oneOf(["ada", "bob"]);
      const key = this.dice.isChance(0.3) ? { idempotencyKey: `${callKey} ${user}` } : {};
      const decision: Decision = { process, callKey, accepted: undefined, outcome: "pending" };
      this.decisions.push(decision);
      const options = {
        decision: this.dice.isChance(0.7) ? "allow" : "deny",
        argsDigest,
        access: { user, scope: ref.scope },
        ...key,
      } as const;
      session.decide(callKey, options).then(
        (accepted) => Object.assign(decision, { accepted, outcome: "resolved" }),
        () => Object.assign(decision, { outcome: "rejected" }),
      );
    }
  }

  private act(): void {
    const process = this.dice.oneOf(this.processes.filter(({ state }) => state === "alive"));
    const dice = this.dice.random();
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
      if (this.dice.isChance(0.5)) await this.pass(this.dice.random() * 1_500);
      else await this.dice.takeTurns();
    }
  }

  /** No more faults: each process that is left brings the session to rest. */
  async settle(): Promise<void> {
    this.dice.isStormy = false;
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
      foreignDeltas: this.processes.flatMap(({ drives, published }) => (drives ? [] : published.filter((event) => "lane" in event))).length,
      streams,
      submissions: this.submissions,
      decisions: this.decisions,
      processes: this.processes,
      onceStarts: this.onceStarts,
      sent: this.sent,
    };
  }
}
