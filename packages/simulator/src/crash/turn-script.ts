import type { AgentOptions, SessionEvent } from "@loopwright/core";
import type { ScriptedTurn } from "@loopwright/core/memory";

/** An action of a person, triggered by an event. */
export interface ScriptedAct {
  /** Event after which it is done; `start`: at the beginning. The n-th of its type, from 1. */
  readonly after: "start" | SessionEvent["type"];
  readonly nth?: number;
  readonly does:
    | "say"
    | "steer"
    | "interrupt"
    | "merge"
    | "abort"
    | "answer"
    | "answer-twice"
    | "answer-by-id"
    | "answer-again"
    | "allow"
    | "deny"
    | "decide-twice"
    | "rename"
    | "schedule"
    | "schedule-often"
    | "unschedule";
}

/** One scripted conversation: the model's answer in each turn, the actions of people, and the end when nothing fails. */
export interface TurnScript {
  readonly name: string;
  /** The n-th answer of the conversation, in every attempt; turns beyond the end get the last one. */
  readonly turns: readonly (ScriptedTurn | ((attempt: number) => ScriptedTurn))[];
  /** Default: one message at the start. */
  readonly acts?: readonly ScriptedAct[];
  readonly limits?: AgentOptions["limits"];
  /** How each run ends when nothing fails and no process dies. Absent: the end depends on the order of concurrent requests. */
  readonly ends?: readonly ("completed" | "aborted" | "failed")[];
}

const say: ScriptedAct = { after: "start", does: "say" };
const answer: ScriptedTurn = { text: "That is done, and well.", usage: { input: 10, output: 5 } };
const ask = (...names: readonly string[]): ScriptedTurn => ({
  text: "Let me see.",
  calls: names.map((name) => ({ name, args: { of: "this" } })),
  usage: { input: 10, output: 5 },
});
/** Numbers the calls of each answer from the start again, as some vendors do. */
const askById = (id: string): ScriptedTurn => ({ text: "Let me see.", calls: [{ name: "asks", args: { of: "this" }, id }] });
const failing =
  (turn: ScriptedTurn) =>
  (attempt: number): ScriptedTurn =>
    attempt === 1 ? turn : answer;
const completes = { ends: ["completed"] } as const;
const with_ = (name: string, ...calls: readonly string[]): TurnScript => ({ name, turns: [ask(...calls), answer], ...completes });

/** Conversations of every kind, forty-four of them. */
export const turnScripts: readonly TurnScript[] = [
  { name: "text", turns: [answer], ...completes },
  { name: "thinking and text", turns: [{ thinking: "I wonder.", text: "So it is." }], ...completes },
  { name: "long text", turns: [{ text: "word ".repeat(30) }], ...completes },
  {
    name: "two messages one after the other",
    turns: [answer, answer],
    acts: [say, { after: "run_end", does: "say" }],
    ends: ["completed", "completed"],
  },
  { name: "two messages at once", turns: [answer, answer], acts: [say, { ...say }], ends: ["completed", "completed"] },
  with_("once", "once"),
  with_("idempotent", "idempotent"),
  with_("pure", "pure"),
  with_("looked up", "looked_up"),
  with_("sequential", "alone"),
  with_("failing tool", "fails"),
  with_("unknown tool", "nowhere"),
  { name: "broken arguments", turns: [{ calls: [{ name: "once", argsText: '{"of": ' }] }, answer], ...completes },
  { name: "denied by a gate", turns: [{ calls: [{ name: "once", args: { of: "denied" } }] }, answer], ...completes },
  { name: "edited by a gate", turns: [{ calls: [{ name: "once", args: { of: "edited" } }] }, answer], ...completes },
  with_("two once in parallel", "once", "once"),
  with_("three classes in parallel", "once", "idempotent", "pure"),
  with_("once beside a failing one", "once", "fails"),
  with_("parallel with a sequential one", "pure", "alone", "pure"),
  { name: "tools in two turns", turns: [ask("once"), ask("idempotent"), answer], ...completes },
  { name: "tools in four turns", turns: [ask("pure"), ask("once"), ask("pure"), ask("once"), answer], ...completes },
  { name: "client tool", turns: [ask("asks"), answer], acts: [say, { after: "awaiting_tool_execution", does: "answer" }], ...completes },
  {
    name: "client tool answered twice",
    turns: [ask("asks"), answer],
    acts: [say, { after: "awaiting_tool_execution", does: "answer-twice" }],
    ...completes,
  },
  {
    name: "client tool answered again where another has its id by now",
    turns: [askById("call_1"), askById("call_1"), answer],
    acts: [
      say,
      { after: "awaiting_tool_execution", does: "answer-by-id" },
      { after: "awaiting_tool_execution", nth: 2, does: "answer-again" },
      { after: "awaiting_tool_execution", nth: 2, does: "answer" },
    ],
    ...completes,
  },
  {
    name: "two client tools",
    turns: [ask("asks", "asks"), answer],
    acts: [say, { after: "awaiting_tool_execution", does: "answer" }],
    ...completes,
  },
  { name: "client tool without an answer", turns: [ask("asks_soon"), answer], ...completes },
  {
    name: "client and server tools",
    turns: [ask("asks", "once", "pure"), answer],
    acts: [say, { after: "awaiting_tool_execution", does: "answer" }],
    ...completes,
  },
  {
    name: "client tool in the second turn",
    turns: [ask("once"), ask("asks"), answer],
    acts: [say, { after: "awaiting_tool_execution", does: "answer" }],
    ...completes,
  },
  {
    name: "message while a client is waited for",
    turns: [ask("asks"), answer, answer],
    acts: [say, { after: "awaiting_tool_execution", does: "say" }, { after: "input_accepted", nth: 2, does: "answer" }],
    ends: ["completed", "completed"],
  },
  { name: "approval allowed", turns: [ask("guarded"), answer], acts: [say, { after: "approval_requested", does: "allow" }], ...completes },
  { name: "approval denied", turns: [ask("guarded"), answer], acts: [say, { after: "approval_requested", does: "deny" }], ...completes },
  {
    name: "approval decided by two",
    turns: [ask("guarded"), answer],
    acts: [say, { after: "approval_requested", does: "decide-twice" }],
    ...completes,
  },
  { name: "approval without a decision", turns: [ask("guarded"), answer], ...completes },
  {
    name: "approval beside a tool",
    turns: [ask("guarded", "idempotent"), answer],
    acts: [say, { after: "approval_requested", does: "allow" }],
    ...completes,
  },
  { name: "abort of an answer", turns: [{ text: "word ".repeat(40) }], acts: [say, { after: "text_delta", nth: 3, does: "abort" }] },
  { name: "abort of a tool", turns: [ask("slow"), answer], acts: [say, { after: "tool_execution_start", does: "abort" }] },
  { name: "abort of a wait", turns: [ask("asks"), answer], acts: [say, { after: "awaiting_tool_execution", does: "abort" }] },
  { name: "steer", turns: [ask("slow"), answer], acts: [say, { after: "tool_execution_start", does: "steer" }] },
  {
    name: "merge",
    turns: [ask("slow"), answer, answer],
    acts: [say, { after: "tool_execution_start", does: "say" }, { after: "input_accepted", nth: 2, does: "merge" }],
  },
  { name: "interrupt", turns: [{ text: "word ".repeat(40) }, answer], acts: [say, { after: "text_delta", nth: 3, does: "interrupt" }] },
  {
    name: "retry after an overload",
    turns: [failing({ text: "half of i", error: "MODEL_OVERLOADED" })],
    limits: { attemptsMax: 6 },
    ...completes,
  },
  {
    name: "a message at a date",
    turns: [answer, ask("once"), answer],
    acts: [say, { after: "run_end", does: "schedule" }],
    ends: ["completed", "completed"],
  },
  {
    name: "a message again and again until its schedule is removed",
    turns: [answer],
    acts: [
      { after: "start", does: "schedule-often" },
      { after: "run_end", nth: 2, does: "unschedule" },
    ],
  },
  { name: "limit of turns", turns: [ask("pure"), ask("pure"), ask("pure"), answer], limits: { turnsMax: 2 }, ...completes },
];

/** The names of those that are crashed twice. */
export const twiceCrashed: readonly string[] = [
  "text",
  "once",
  "idempotent",
  "looked up",
  "three classes in parallel",
  "client tool",
  "approval allowed",
  "abort of an answer",
  "two messages at once",
  "retry after an overload",
];
