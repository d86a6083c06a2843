import {
  type ApprovalVerdict,
  type AssistantPart,
  type CallOutcome,
  type Cost,
  type Decision,
  defaultLimits,
  type FactBody,
  type Hooked,
  type JsonObject,
  type Opaque,
  type ResultPart,
  type RunLimits,
  type Spending,
  type ToolCallPart,
  type ToolPolicy,
  type Usage,
  type UserMessage,
} from "@loopwright/core";
import { digestOf, type State, type ToolPolicies } from "@loopwright/core/internals";
import { seededRandom } from "@loopwright/core/memory";
import { opaqueOnText, partsBeforeText, toolOutput, userContent, vendorPartOfCall } from "../samples/rich-content.ts";
import { answerToChild, compactionOfPath, type LinkedChild, questionOfChild } from "./wide-scenario.ts";

/** What the world of one simulated session is like: decided by the seed alone, never by the order of events. */
export interface LoopScenario {
  readonly seed: number;
  readonly tools: ToolPolicies;
  readonly limits: RunLimits;
  /** Calls of client tools pass gates first. */
  readonly gatesClient: boolean;
  /** What a model call of this turn is shown, where it is not the list of the run. */
  shownAt(place: string): ToolPolicies | undefined;
  /** The answer of the model at this turn of a run (counted from 0 over the session). */
  modelAt(runOrdinal: number, turn: number, attempt: number): ScenarioAnswer;
  outcomeOf(callKey: string): CallOutcome;
  outputOf(callKey: string): readonly ResultPart[];
  /** What later runs see in place of the output of some calls. */
  summaryOf(callKey: string): { readonly summary?: string };
  /** What one model call or tool costs; nothing is known of some. */
  spentOn(place: string): { readonly usage?: Usage; readonly cost?: Cost };
  inputAt(inputId: string): UserMessage["content"];
  /** How the call of a tool becomes a child: at once, or from within the tool; `beside`: the tool runs on. */
  childOf(callKey: string): "at-once" | "from-within" | "beside" | undefined;
  /** What hooks change and spend at a place. */
  hooksAt(place: string): Pick<Hooked & Spending, "verdicts" | "hookState" | "expenses">;
  /** The answer that a hook gives to an input, where it gives one. */
  cannedOf(inputId: string): { readonly answer?: string };
  /** A person's decision on the call, where the gate asks for one. */
  approvalOf(callKey: string): ScenarioApproval | undefined;
  /** The path is compacted before this model call. */
  compactionOf(state: State, place: { readonly runId: string; readonly turn: number }): FactBody | undefined;
  /** What a new child asks people and clients, where it asks them. Its call waits for the answer. */
  questionBelow(state: State, child: LinkedChild): FactBody | undefined;
  /** The answer to the child's question; `undefined`: there is none. */
  answerBelow(state: State, session: string): FactBody | undefined;
}

/** `expire`: no decision comes in time. */
export interface ScenarioApproval {
  readonly prints: ApprovalVerdict | "expire";
  readonly args?: JsonObject;
  readonly deadlineMs?: number;
}

export interface ScenarioAnswer {
  readonly fails?: { readonly retryable: boolean };
  readonly refuses: boolean;
  readonly before: readonly AssistantPart[];
  readonly text: string;
  readonly onText: { readonly opaque?: Opaque };
  readonly tools: readonly { readonly name: string; readonly problem?: ToolCallPart["problem"] }[];
  /** What a vendor adds to the call of this key. */
  vendorPartOf(callKey: string): { readonly id: string; readonly opaque?: Opaque };
  readonly decision?: Decision["action"];
}

const policy = (change: Partial<ToolPolicy>): ToolPolicy => ({
  home: "server",
  replay: "once",
  lookup: false,
  sequential: false,
  timeoutMs: 0,
  counts: true,
  ...change,
});

const tools = {
  once: policy({}),
  again: policy({ replay: "idempotent" }),
  pure: policy({ replay: "pure", counts: false }),
  asks: policy({ lookup: true }),
  alone: policy({ sequential: true }),
  client: policy({ home: "client" }),
  slow_client: policy({ home: "client", timeoutMs: 60_000 }),
};
const names = [...Object.keys(tools), "no such.tool!"];

/** A world from a number. `isWide`: with children that ask, and with compactions. */
export function loopScenario(seed: number, isWide = false): LoopScenario {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const limits: RunLimits = {
    ...defaultLimits,
    turnsMax: pick([1, 2, 3, 5, 8]),
    toolCallsMax: pick([0, 0, 1, 3]),
    onLimit: pick(["finalize", "finalize", "stop", "error"]),
    attemptsMax: pick([1, 2, 3]),
    toolAttemptsMax: pick([1, 2]),
    parallelMax: pick([1, 2, 16]),
  };
  return {
    seed,
    tools,
    limits,
    gatesClient: hash(seed, "gates", 9) % 2 === 0,
    modelAt: (runOrdinal, turn, attempt) => ({
      ...answerFor(seededRandom(hash(seed, runOrdinal, turn)), attempt, turn),
      ...vendorContent(seed, `${runOrdinal}_${turn}`),
    }),
    shownAt: (place) => shownTools(seededRandom(hash(seed, place, 7))),
    outcomeOf: (callKey) => (seededRandom(hash(seed, callKey, 0))() < 0.8 ? "ok" : "error"),
    spentOn: (place) => spent(seededRandom(hash(seed, place, 5))),
    outputOf: (callKey) => toolOutput(seededRandom(hash(seed, callKey, 1)), `result of ${callKey}`),
    summaryOf: (callKey) => (seededRandom(hash(seed, callKey, 8))() < 0.3 ? { summary: `summary of ${callKey}` } : {}),
    childOf: (callKey) => childKind(seededRandom(hash(seed, callKey, 9)), isWide ? 3 : 1),
    hooksAt: (place) => hooked(seededRandom(hash(seed, place, 10))),
    cannedOf: (inputId) => (seededRandom(hash(seed, inputId, 11))() < 0.08 ? { answer: `canned ${inputId}` } : {}),
    approvalOf: (callKey) => approval(seededRandom(hash(seed, callKey, 6))),
    compactionOf: (state, { runId, turn }) =>
      isWide && seededRandom(hash(seed, `${runId}.${turn}`, 12))() < 0.2 ? compactionOfPath(state, runId) : undefined,
    questionBelow: (state, child) =>
      isWide ? questionOfChild(state, child, seededRandom(hash(seed, child.callKey ?? "", 13))) : undefined,
    answerBelow: answerToChild,
    inputAt: (inputId) => userContent(seededRandom(hash(seed, inputId, 2)), `say ${inputId}`),
  };
}

/** Mostly the run's list; else some of it, with one tool under another policy. */
function shownTools(random: () => number): ToolPolicies | undefined {
  if (random() < 0.8) return undefined;
  const some = Object.entries(tools).filter(() => random() < 0.5);
  return Object.fromEntries([...some, ["again", policy({ replay: "once" })]]);
}

/** What vendors add, from random numbers of its own: the course of a session does not depend on it. */
function vendorContent(seed: number, place: string): Pick<ScenarioAnswer, "before" | "onText" | "vendorPartOf"> {
  const random = seededRandom(hash(seed, place, 3));
  return {
    before: partsBeforeText(random, place),
    onText: opaqueOnText(random, place),
    vendorPartOf: (callKey) => vendorPartOfCall(seededRandom(hash(seed, callKey, 4)), callKey),
  };
}

type CourseOfAnswer = Omit<ScenarioAnswer, "before" | "onText" | "vendorPartOf">;

function answerFor(random: () => number, attempt: number, turn: number): CourseOfAnswer {
  const failures = random() < 0.15 ? 1 + Math.floor(random() * 3) : 0;
  const fails = attempt <= failures ? { fails: { retryable: random() < 0.8 } } : {};
  const count = random() < 0.35 ? 0 : Math.floor(random() * 5);
  const calls = Array.from({ length: count }, () => {
    const name = names[Math.floor(random() * names.length)] as string;
    return random() < 0.1 ? { name, problem: "invalid_json" as const } : { name };
  });
  const chosen = random();
  const decision =
    chosen < 0.04
      ? { decision: "stop" as const }
      : chosen < 0.08
        ? { decision: "nudge" as const }
        : chosen < 0.12
          ? { decision: "force" as const }
          : chosen < 0.15
            ? { decision: "finish" as const }
            : chosen < 0.18
              ? { decision: "continue" as const }
              : {};
  return { ...fails, refuses: random() < 0.03, text: random() < 0.9 ? `turn ${turn}` : "", tools: calls, ...decision };
}

function spent(random: () => number): ReturnType<LoopScenario["spentOn"]> {
  if (random() < 0.3) return {};
  const usage = { input: Math.floor(random() * 1_000), output: Math.floor(random() * 100) };
  return random() < 0.3 ? { usage } : { usage, cost: { totalUsd: Math.floor(random() * 1_000) / 64 } };
}

function childKind(random: () => number, often: number): ReturnType<LoopScenario["childOf"]> {
  const chance = random() / often;
  return chance < 0.06 ? "at-once" : chance < 0.12 ? "from-within" : chance < 0.18 ? "beside" : undefined;
}

function hooked(random: () => number): ReturnType<LoopScenario["hooksAt"]> {
  if (random() < 0.8) return {};
  const usage = { input: Math.floor(random() * 50), output: Math.floor(random() * 5) };
  const cost = random() < 0.5 ? { cost: { totalUsd: Math.floor(random() * 64) / 64 } } : {};
  return {
    ...(random() < 0.5 ? { verdicts: [{ hook: "h", point: "decide", action: "edit" }] } : {}),
    ...(random() < 0.5 ? { hookState: { h: Math.floor(random() * 9) } } : {}),
    ...(random() < 0.5 ? { expenses: [{ usage, ...cost, model: "small" }] } : {}),
  };
}

function approval(random: () => number): ScenarioApproval | undefined {
  if (random() < 0.7) return undefined;
  const written = random();
  const deadline = random() < 0.5 ? { deadlineMs: 60_000 } : {};
  if (written < 0.25 && "deadlineMs" in deadline) return { prints: "expire", ...deadline };
  if (written < 0.5) return { prints: "deny", ...deadline };
  return { prints: "allow", ...(random() < 0.3 ? { args: { edited: true } } : {}), ...deadline };
}

const hash = (seed: number, a: number | string, b: number): number => Number.parseInt(digestOf(`${seed}/${a}/${b}`), 36) % 2 ** 32;
