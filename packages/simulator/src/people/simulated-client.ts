/*
 * Owns: one person: what they say, how often they try again, to which process they speak, and what they were promised.
 * Does not own: when they act (scenario), what they should have been told (checker).
 */
import { type AgentSession, isAgentError } from "@loopwright/core";
import type { Dice } from "../world/dice.ts";
import type { SessionHost } from "../world/session-host.ts";
import type { World } from "../world/simulated-world.ts";
import { createRecording, type Recording } from "./recording.ts";
import { feedSession } from "./session-feed.ts";

/** What a client was promised with a 2xx. */
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
  | { readonly kind: "abort"; readonly runId: string; readonly atMs: number };

export interface SimulatedClient {
  readonly name: string;
  readonly session: string;
  readonly recording: Recording;
  readonly acknowledged: readonly Acknowledged[];
  /** Keys of everything it ever sent. */
  readonly sentKeys: readonly string[];
  /** Requests that have no answer yet. */
  readonly openCount: number;
  readonly isConnected: boolean;
  say(mode: "enqueue" | "steer" | "interrupt", text?: string): void;
  abort(): void;
  /** Answers what it was told waits for it. `isDouble`: some are given again, some differently. */
  answer(options?: { readonly isDouble?: boolean }): void;
  decide(options?: { readonly isDouble?: boolean; readonly decision?: "allow" | "deny" }): void;
  rename(): void;
  /** Connects, elsewhere if it was connected, and goes on from its cursor. */
  connect(host?: SessionHost): void;
  disconnect(): void;
}

export interface ClientOptions {
  readonly world: World;
  readonly name: string;
  readonly session: string;
  readonly dice: Dice;
  /** True: never gives up. Default: one in five does. */
  readonly isPatient?: boolean;
}

/** After so long without an answer a client tries again. */
const patienceMs = 4_000;
const triesInStorm = 6;

/** What came of one request: a value, a refusal for good, or nobody knows. */
type Answer<T> = { readonly value: T } | { readonly refusal: string } | "unknown";

export function createClient({ world, name, session, dice, isPatient: isAlwaysPatient = false }: ClientOptions): SimulatedClient {
  const { time, trace } = world;
  const recording = createRecording();
  const acknowledged: Acknowledged[] = [];
  const sentKeys: string[] = [];
  let openCount = 0;
  let inputCount = 0;
  let disconnect: (() => void) | undefined;

  const delayMs = (): number => (world.isCalm() ? dice.between(0.2, 2) : dice.between(0.2, dice.chance(0.1) ? 300 : 8));
  const note = (line: string): void => trace.add(time.nowMs, `${name} ${line}`);

  /** One try at one process. */
  const ask = <T>(host: SessionHost, act: (handle: AgentSession) => Promise<T>): Promise<Answer<T>> =>
    new Promise((resolve) => {
      time.schedule(patienceMs, () => resolve("unknown"));
      const { node } = host;
      const reply = (answer: Answer<T>): void => {
        if (node.state !== "dead") time.schedule(delayMs(), () => resolve(answer));
      };
      const arrive = (): void => {
        if (node.state === "dead") return;
        act(host.handle(session)).then(
          (value) => {
            if (host.role === "server") host.hint(session);
            reply({ value });
          },
          (error: unknown) =>
            reply(isAgentError(error) && !error.retryable && error.code !== "RUN_ABORTED" ? { refusal: error.code } : "unknown"),
        );
      };
      time.schedule(delayMs(), () => node.enter(arrive));
    });

  /** Tries until there is an answer, at any process. A patient client tries until the world is calm. */
  const insist = async <T>(what: string, act: (handle: AgentSession) => Promise<T>): Promise<Answer<T>> => {
    openCount += 1;
    const isPatient = isAlwaysPatient || dice.chance(0.8);
    for (let tries = 1; ; tries++) {
      const answer = await ask(world.anyHost(dice), act);
      if (answer !== "unknown" || (tries >= triesInStorm && !isPatient)) {
        openCount -= 1;
        note(`${what}: ${answer === "unknown" ? "gave up" : "value" in answer ? "acknowledged" : answer.refusal} after ${tries}`);
        return answer;
      }
      await new Promise<void>((resolve) => void time.schedule(dice.between(50, 200) * Math.min(8, 2 ** tries), resolve));
    }
  };

  const say = async (mode: "enqueue" | "steer" | "interrupt", text: string): Promise<void> => {
    const key = `${name}-${++inputCount}`;
    sentKeys.push(key);
    const askedAtMs = time.nowMs;
    const answer = await insist(`says ${key}`, (handle) =>
      handle.submit(text, { idempotencyKey: key, mode, access: { user: name, scope: world.scope } }),
    );
    if (answer === "unknown" || "refusal" in answer) return;
    acknowledged.push({ kind: "input", key, seq: answer.value.seq, askedAtMs, atMs: time.nowMs });
  };
  const answerOne = async (callKey: string, text: string): Promise<void> => {
    const call = recording.calls.get(callKey);
    if (!call) return;
    const result = { role: "tool_result" as const, callKey, ...call, content: text };
    const answer = await insist(`answers ${callKey}`, (handle) => handle.submit([result]));
    if (answer === "unknown" || "refusal" in answer) return;
    acknowledged.push({ kind: "answer", callKey, text, seq: answer.value.seq, atMs: time.nowMs });
  };
  const decideOne = async (callKey: string, decision: "allow" | "deny"): Promise<void> => {
    const argsDigest = recording.approvals.get(callKey);
    const options = { decision, access: { user: name, scope: world.scope }, ...(argsDigest === undefined ? {} : { argsDigest }) };
    const answer = await insist(`decides ${callKey} ${decision}`, (handle) => handle.decide(callKey, options));
    if (answer === "unknown" || "refusal" in answer) return;
    acknowledged.push({ kind: "decision", callKey, decision, seq: answer.value.seq, atMs: time.nowMs });
  };

  return {
    name,
    session,
    recording,
    acknowledged,
    sentKeys,
    get openCount() {
      return openCount;
    },
    get isConnected() {
      return disconnect !== undefined;
    },
    say: (mode, text = `Message ${inputCount + 1} of ${name}.`) => void say(mode, text),
    abort() {
      const runId = recording.openRun;
      if (runId === undefined) return;
      void insist(`aborts ${runId}`, (handle) => handle.abort("user", { runId, by: name })).then((answer) => {
        if (answer !== "unknown" && "value" in answer && answer.value) acknowledged.push({ kind: "abort", runId, atMs: time.nowMs });
      });
    },
    answer({ isDouble = false } = {}) {
      for (const callKey of recording.calls.keys()) {
        const text = `Answer to ${callKey}.`;
        void answerOne(callKey, text);
        if (isDouble) void answerOne(callKey, dice.chance(0.5) ? text : `${text} Or not.`);
      }
    },
    decide({ isDouble = false, decision } = {}) {
      for (const callKey of recording.approvals.keys()) {
        void decideOne(callKey, decision ?? (dice.chance(0.7) ? "allow" : "deny"));
        if (isDouble) void decideOne(callKey, dice.chance(0.5) ? "allow" : "deny");
      }
    },
    rename() {
      void insist("renames", (handle) => handle.change({ title: `Title of ${name} at ${Math.round(time.nowMs)}` }));
    },
    connect(host = world.anyHost(dice)) {
      disconnect?.();
      recording.connect();
      note(`connects to ${host.node.name}`);
      disconnect = connectTo({
        world,
        host,
        session,
        recording,
        delayMs,
        onEnd: () => {
          disconnect = undefined;
        },
      });
    },
    disconnect() {
      note("disconnects");
      disconnect?.();
      disconnect = undefined;
    },
  };
}

interface Connection {
  readonly world: World;
  readonly host: SessionHost;
  readonly session: string;
  readonly recording: Recording;
  readonly delayMs: () => number;
  readonly onEnd: () => void;
}

/** More than what moments lose when they are rounded. */
const leastGapMs = 0.001;

/** A pipe that keeps the order and loses what is in it when either end goes away. */
function connectTo({ world, host, session, recording, delayMs, onEnd }: Connection): () => void {
  const { time, scope } = world;
  const { node } = host;
  let isOpen = true;
  let lastAtMs = 0;
  let stopFeed = (): void => {};
  const carry = (run: () => void): void => {
    lastAtMs = Math.max(lastAtMs + leastGapMs, time.nowMs + delayMs());
    time.schedule(lastAtMs - time.nowMs, () => isOpen && run());
  };
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    onEnd();
  };
  node.onDeath(() => void time.schedule(delayMs(), end));
  time.schedule(delayMs(), () =>
    node.enter(() => {
      if (!isOpen) return;
      stopFeed = feedSession({
        handle: host.handle(session),
        store: host.store,
        ref: { scope, session },
        after: recording.cursor,
        send: (events) => node.state !== "dead" && carry(() => recording.take(events)),
        end: () => carry(end),
      });
    }),
  );
  return () => {
    isOpen = false;
    time.schedule(delayMs(), () => node.enter(() => stopFeed()));
  };
}
