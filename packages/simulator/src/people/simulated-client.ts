/*
 * Owns: one person: their inputs, the process that they are connected to, and the acknowledgements that they got.
 * Does not own: when they act (storm, script), how often they try (requests), which events they should have received (checker).
 */
import type { AcceptedSubmission, AgentSession, ScheduleRequest, ToolResultMessage } from "@loopwright/core";
import type { Dice } from "../world/dice.ts";
import type { SimulatedHost } from "../world/simulated-host.ts";
import type { World } from "../world/simulated-world.ts";
import { connectTo } from "./connection.ts";
import { Recording } from "./recording.ts";
import { createRequests, type Requests } from "./requests.ts";

/** What the server acknowledged to a client. */
export type Acknowledged =
  | { readonly kind: "input"; readonly key: string; readonly seq: number; readonly askedAtMs: number; readonly atMs: number }
  | { readonly kind: "answer"; readonly callKey: string; readonly text: string; readonly seq: number; readonly atMs: number }
  | {
      readonly kind: "decision";
      readonly callKey: string;
      readonly decision: "allow" | "deny";
      readonly seq: number;
      readonly atMs: number;
    }
  | { readonly kind: "schedule"; readonly name: string; readonly due: number }
  | { readonly kind: "unschedule"; readonly name: string }
  | { readonly kind: "abort"; readonly runId: string; readonly atMs: number };

export interface ClientOptions {
  readonly world: World;
  readonly name: string;
  readonly session: string;
  readonly dice: Dice;
  /** True: never gives up. Default: one in five does. */
  readonly isPatient?: boolean;
}

interface SentAnswer {
  readonly key: string;
  readonly result: ToolResultMessage;
}

const submitAnswer = (handle: AgentSession, { key, result }: SentAnswer): Promise<AcceptedSubmission> =>
  handle.submit([result], { idempotencyKey: key });

interface Timing extends Pick<ScheduleRequest, "everyMs" | "mode"> {
  readonly inMs: number;
  readonly text?: string;
}

type InputMode = "enqueue" | "steer" | "interrupt" | "merge";

export class SimulatedClient {
  readonly name: string;
  readonly session: string;
  readonly recording: Recording = new Recording();
  readonly acknowledged: Acknowledged[] = [];
  readonly #world: World;
  readonly #dice: Dice;
  readonly #requests: Requests;
  readonly #answers: SentAnswer[] = [];
  #inputCount = 0;
  #disconnect: (() => void) | undefined;

  constructor({ world, name, session, dice, isPatient = false }: ClientOptions) {
    this.#world = world;
    this.#dice = dice;
    this.name = name;
    this.session = session;
    this.#requests = createRequests({ world, name, session, dice, delayMs: this.#delayMs, isPatient });
  }

  /** Requests that have no answer yet. */
  get openCount(): number {
    return this.#requests.openCount;
  }

  get isConnected(): boolean {
    return this.#disconnect !== undefined;
  }

  say(mode: InputMode, text = `Message ${this.#inputCount + 1} of ${this.name}.`): void {
    void this.#say(mode, text);
  }

  /** Aborts the newest run that it knows of. */
  abort(): void {
    void this.#abort();
  }

  /** Answers every call that waits for it. `isDouble`: each answer is sent a second time, some of them with other content. */
  answer({ isDouble = false, byId = false }: { readonly isDouble?: boolean; readonly byId?: boolean } = {}): void {
    for (const callKey of this.recording.pending.calls.keys()) {
      const text = `Answer to ${callKey}.`;
      void this.#answer(callKey, text, byId);
      if (isDouble) void this.#answer(callKey, this.#dice.chance(0.5) ? text : `${text} Or not.`);
    }
  }

  /** Sends its first answer again, under the key that it had. */
  answerAgain(): void {
    const [first] = this.#answers;
    if (first) void this.#requests.insist(`answers again under ${first.key}`, (handle) => submitAnswer(handle, first));
  }

  /** Decides on the calls that its events showed as awaiting approval. */
  decide({ isDouble = false, decision }: { readonly isDouble?: boolean; readonly decision?: "allow" | "deny" } = {}): void {
    for (const callKey of this.recording.pending.approvals.keys()) {
      void this.#decide(callKey, decision ?? (this.#dice.chance(0.7) ? "allow" : "deny"));
      if (isDouble) void this.#decide(callKey, this.#dice.chance(0.5) ? "allow" : "deny");
    }
  }

  /** Sets one of its two schedules, once or again and again, or removes it. */
  schedule(dice: Dice, text?: string): void {
    const name = `${this.name}-p${dice.below(2)}`;
    const inMs = dice.between(300, 8_000);
    const everyMs = dice.chance(0.35) ? { everyMs: Math.round(dice.between(1_000, 6_000)) } : {};
    const mode = dice.chance(0.8) ? "enqueue" : "interrupt";
    if (dice.chance(0.15)) void this.unschedule(name);
    else this.setSchedule(name, { inMs, ...everyMs, mode, ...(text === undefined ? {} : { text }) });
  }

  /** A message at a date, counted from now. */
  setSchedule(name: string, { inMs, text = `Scheduled by ${this.name}.`, ...request }: Timing): void {
    void this.#schedule(name, { input: text, at: Math.round(this.#world.wallMs() + inMs), ...request });
  }

  async unschedule(name: string): Promise<void> {
    const answer = await this.#requests.insist(`removes the schedule ${name}`, (handle) => handle.unschedule(name));
    if (answer !== "unknown" && "value" in answer && answer.value) this.acknowledged.push({ kind: "unschedule", name });
  }

  rename(): void {
    const title = `Title of ${this.name} at ${Math.round(this.#world.time.nowMs)}`;
    void this.#requests.insist("renames", (handle) => handle.change({ title }));
  }

  /** Connects, to another process if it was connected, and continues from its cursor. */
  connect(host: SimulatedHost = this.#world.anyHost(this.#dice)): void {
    this.#disconnect?.();
    this.recording.connect();
    this.#note(`connects to ${host.node.name}`);
    const { session, recording } = this;
    const onEnd = (): void => {
      this.#disconnect = undefined;
    };
    this.#disconnect = connectTo({ world: this.#world, host, session, recording, delayMs: this.#delayMs, onEnd });
  }

  disconnect(): void {
    this.#note("disconnects");
    this.#disconnect?.();
    this.#disconnect = undefined;
  }

  readonly #delayMs = (): number => {
    if (this.#world.isCalm()) return this.#dice.between(0.2, 2);
    return this.#dice.between(0.2, this.#dice.chance(0.1) ? 300 : 8);
  };

  #note(line: string): void {
    this.#world.trace.add(this.#world.time.nowMs, `${this.name} ${line}`);
  }

  async #say(mode: InputMode, text: string): Promise<void> {
    const { time, scope } = this.#world;
    const key = `${this.name}-${++this.#inputCount}`;
    const askedAtMs = time.nowMs;
    const options = { idempotencyKey: key, mode, access: { user: this.name, scope } };
    const answer = await this.#requests.insist(`says ${key}`, (handle) => handle.submit(text, options));
    if (answer !== "unknown" && "value" in answer)
      this.acknowledged.push({ kind: "input", key, seq: answer.value.seq, askedAtMs, atMs: time.nowMs });
  }

  async #schedule(name: string, request: ScheduleRequest): Promise<void> {
    const access = { user: this.name, scope: this.#world.scope };
    const answer = await this.#requests.insist(`sets the schedule ${name}`, (handle) => handle.schedule(name, { ...request, access }));
    if (answer !== "unknown" && "value" in answer) this.acknowledged.push({ kind: "schedule", name, due: answer.value.due });
  }

  async #abort(): Promise<void> {
    const { openRun: runId } = this.recording.pending;
    if (runId === undefined) return;
    const answer = await this.#requests.insist(`aborts ${runId}`, (handle) => handle.abort("user", { runId, by: this.name }));
    if (answer !== "unknown" && "value" in answer && answer.value)
      this.acknowledged.push({ kind: "abort", runId, atMs: this.#world.time.nowMs });
  }

  /** `byId`: the call is named by the vendor's id alone. */
  async #answer(callKey: string, text: string, byId = false): Promise<void> {
    const call = this.recording.pending.calls.get(callKey);
    if (!call) return;
    const result = { role: "tool_result" as const, ...(byId ? {} : { callKey }), ...call, content: text };
    const sent: SentAnswer = { key: `${this.name}-answer-${this.#answers.length + 1}`, result };
    this.#answers.push(sent);
    const answer = await this.#requests.insist(`answers ${callKey}`, (handle) => submitAnswer(handle, sent));
    if (answer !== "unknown" && "value" in answer)
      this.acknowledged.push({ kind: "answer", callKey, text, seq: answer.value.seq, atMs: this.#world.time.nowMs });
  }

  async #decide(callKey: string, decision: "allow" | "deny"): Promise<void> {
    const argsDigest = this.recording.pending.approvals.get(callKey);
    const access = { user: this.name, scope: this.#world.scope };
    const options = { decision, access, ...(argsDigest === undefined ? {} : { argsDigest }) };
    const answer = await this.#requests.insist(`decides ${callKey} ${decision}`, (handle) => handle.decide(callKey, options));
    if (answer !== "unknown" && "value" in answer)
      this.acknowledged.push({ kind: "decision", callKey, decision, seq: answer.value.seq, atMs: this.#world.time.nowMs });
  }
}
