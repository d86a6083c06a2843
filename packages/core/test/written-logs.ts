import { defaultLimits, type Fact, type FactBody, factVersion } from "../src/index.ts";
import type { ToolPolicy } from "../src/loop/facts/tool-policy.ts";

/*
 * Logs with facts that no entry point of core writes by itself: written by hand, one fact after the other. A golden log of each is kept beside those
 * that the driver has written.
 */

const startedAt = 1_767_225_600_000;
const policy: ToolPolicy = { home: "server", replay: "idempotent", lookup: false, sequential: false, timeoutMs: 0, counts: true };
const text = (words: string) => [{ type: "text", text: words }] as const;
const usage = { input: 100, output: 20 };
const cost = { totalUsd: 0.5 };
const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const from = { runId: "r1" } as const;
const model = { provider: "scripted", model: "scripted-1" } as const;

/** Gives facts their numbers; those of an owner are written under the epoch of the last claim. */
export function numbered(bodies: readonly FactBody[]): readonly Fact[] {
  let epoch = 0;
  return bodies.map((body, place): Fact => {
    if (body.type === "owner.claimed") epoch += 1;
    return { ...body, seq: place + 1, at: startedAt + place * 10, v: factVersion, ...(epoch === 0 ? {} : { epoch }) };
  });
}

const opened: FactBody = {
  type: "session.opened",
  agent: "tester",
  parent: { session: "above", runId: "r0", callKey: "r0.1.0", depth: 1 },
};
const claimed: FactBody = { type: "owner.claimed", node: "n1", leaseMs: 20_000 };
const started = (runId: string): FactBody => ({
  type: "run.started",
  runId,
  agent: "tester",
  agentDigest: "d",
  ...model,
  tools: { research: policy },
  limits: { ...defaultLimits, tokensMax: 100_000, costUsdMax: 20, durationMs: 60_000 },
  chain: {
    links: [
      { ...model, keyOwner: "platform" },
      { provider: "other", model: "big", keyOwner: "platform" },
    ],
  },
  context: { strategy: "summary" },
  budget: { accounts: ["team"], tokensMax: 50_000 },
});
const call = (index: number) =>
  ({ type: "tool_call", callKey: `r1.1.${index}`, id: `c${index}`, name: "research", args: { about: index } }) as const;

const below = (index: number) => ({
  session: "child-b",
  agent: "researcher",
  toolCallId: `b${index}`,
  callKey: `r2.1.${index}`,
  toolName: "remove",
  args: { path: `/${index}` },
});
const child = { session: "child-b", callKey: "r1.1.0" };

/** A call whose child waits for a person and a client, rests, and continues after each answer at this session. */
const waitingBelow: readonly FactBody[] = [
  opened,
  claimed,
  { type: "input.accepted", inputId: "i1", ...from, mode: "enqueue", message: { role: "user", content: "Tidy up." } },
  started("r1"),
  { type: "model.started", ...from, turn: 1, attempt: 1, ...model, requestDigest: "d" },
  {
    type: "model.finished",
    ...from,
    turn: 1,
    attempt: 1,
    message: { role: "assistant", content: [call(0)], stopReason: "tool_calls" },
    stopReason: "tool_calls",
    calls: [{ callKey: "r1.1.0", route: "server" }],
    usage,
    timings: { totalMs: 10 },
  },
  { type: "tool.started", ...from, callKey: "r1.1.0", attempt: 1, argsDigest: "d", replay: "idempotent", idempotencyKey: "r1.1.0" },
  { type: "child.linked", ...from, ...child, agent: "researcher", key: "agent", budget: { tokensMax: 1_000 } },
  { type: "child.waiting", ...from, ...child, waits: [{ ...below(0), argsDigest: "d", reason: "It removes a file." }] },
  {
    type: "child.waiting",
    ...from,
    ...child,
    waits: [{ ...below(0), argsDigest: "d", reason: "It removes a file." }, below(1)],
    rests: true,
  },
  { type: "approval.decided", ...from, callKey: "r2.1.0", decision: "allow", by: "ann", argsDigest: "d", child },
  { type: "owner.claimed", node: "n2", leaseMs: 20_000 },
  { type: "tool.started", ...from, callKey: "r1.1.0", attempt: 2, argsDigest: "d", replay: "idempotent", idempotencyKey: "r1.1.0" },
  { type: "child.waiting", ...from, ...child, waits: [below(1)], rests: true },
  { type: "client.answered", ...from, callKey: "r2.1.1", by: "ann", outcome: "ok", output: text("done"), child },
  { type: "tool.started", ...from, callKey: "r1.1.0", attempt: 3, argsDigest: "d", replay: "idempotent", idempotencyKey: "r1.1.0" },
  { type: "child.finished", ...from, ...child, outcome: "ok", output: [], usage, toolCallCount: 2 },
  { type: "tool.finished", ...from, callKey: "r1.1.0", outcome: "ok", output: text("Tidy.") },
  { type: "model.started", ...from, turn: 2, attempt: 1, ...model, requestDigest: "d" },
  {
    type: "model.finished",
    ...from,
    turn: 2,
    attempt: 1,
    message: { role: "assistant", content: text("All is tidy."), stopReason: "stop" },
    stopReason: "stop",
    calls: [],
    usage,
    timings: { totalMs: 10 },
  },
  { type: "run.finished", ...from, status: "completed", reason: "answer" },
];

/** A call that waits for a child, one whose tool begins a child beside itself, and an answer of the second model after a retry. */
const children: readonly FactBody[] = [
  { ...opened, keyId: "key-7", policy: { keep: "text" } },
  claimed,
  {
    type: "input.accepted",
    inputId: "i1",
    ...from,
    mode: "enqueue",
    message: { role: "user", content: "Compare both." },
    access: { user: "ann", scope: "local", labels: { plan: "pro" } },
    labels: { surface: "web" },
    origin: { type: "channel", channel: "mail", data: { from: "ann@example.com" } },
    trace,
    verdicts: [{ hook: "pii", point: "accept", action: "edit", reason: "an address" }],
    expenses: [{ usage: { input: 5, output: 1 }, model: "small" }],
  },
  started("r1"),
  {
    type: "model.started",
    ...from,
    turn: 1,
    attempt: 1,
    ...model,
    requestDigest: "d",
    link: 0,
    keyOwner: "platform",
    reservation: "r1.1#1",
    trace,
  },
  {
    type: "model.finished",
    ...from,
    turn: 1,
    attempt: 1,
    message: { role: "assistant", content: [...text("Both, then."), call(0), call(1)], stopReason: "tool_calls" },
    stopReason: "tool_calls",
    calls: [
      { callKey: "r1.1.0", route: "server" },
      { callKey: "r1.1.1", route: "server" },
    ],
    usage,
    cost,
    timings: { totalMs: 10 },
    hookState: { counter: 1 },
  },
  { type: "child.linked", ...from, callKey: "r1.1.0", session: "child-a", agent: "researcher", budget: { tokensMax: 1_000 } },
  { type: "tool.started", ...from, callKey: "r1.1.1", attempt: 1, argsDigest: "d", replay: "idempotent", idempotencyKey: "r1.1.1" },
  { type: "child.linked", ...from, callKey: "r1.1.1", session: "child-b", agent: "researcher", key: "first" },
  { type: "child.linked", ...from, session: "child-c", agent: "critic", key: "review" },
  { type: "child.finished", ...from, callKey: "r1.1.1", session: "child-b", outcome: "ok", output: text("B"), usage, cost },
  {
    type: "tool.finished",
    ...from,
    callKey: "r1.1.1",
    outcome: "ok",
    output: text("What B found."),
    expenses: [{ usage: { input: 7, output: 3 }, cost: { totalUsd: 0.25 }, provider: "scripted", model: "small" }],
    verdicts: [{ hook: "pii", point: "review", action: "replace", callKey: "r1.1.1" }],
    hookState: { counter: 2 },
  },
  {
    type: "child.finished",
    ...from,
    callKey: "r1.1.0",
    session: "child-a",
    by: "n7",
    outcome: "ok",
    output: text("A long report."),
    summary: "A found it.",
    usage,
  },
  { type: "model.started", ...from, turn: 2, attempt: 1, ...model, requestDigest: "d" },
  {
    type: "model.failed",
    ...from,
    turn: 2,
    attempt: 1,
    failure: { code: "MODEL_OVERLOADED", message: "Busy.", retryable: true },
    next: { provider: "other", model: "big", keyOwner: "platform" },
    usage: { input: 3 },
  },
  { type: "wait.scheduled", ...from, turn: 2, attempt: 1, until: startedAt + 200, reason: "MODEL_OVERLOADED" },
  { type: "model.started", ...from, turn: 2, attempt: 2, provider: "other", model: "big", requestDigest: "d", link: 1 },
  {
    type: "model.finished",
    ...from,
    turn: 2,
    attempt: 2,
    message: { role: "assistant", content: text("A is better."), stopReason: "stop" },
    stopReason: "stop",
    calls: [],
    usage,
    timings: { totalMs: 10 },
  },
  { type: "run.finished", ...from, status: "completed", reason: "answer" },
  {
    type: "context.compacted",
    from: "3",
    to: "5",
    path: "14",
    summary: "Two reports.",
    pinned: ["3"],
    tokensBefore: 900,
    tokensAfter: 90,
    usage,
    cost,
    model: "small",
  },
  { type: "note.recorded", kind: "tests.note", data: { kept: [1, 2] }, ...from },
];

/** Schedules that fire, an answer that a hook gave, a legal hold, and how long the session is kept. */
const schedules: readonly FactBody[] = [
  { type: "session.opened", agent: "tester" },
  {
    type: "schedule.set",
    schedule: "daily",
    due: startedAt + 50,
    everyMs: 1_000,
    input: { message: { role: "user", content: "Report." }, labels: { surface: "timer" } },
    by: "ann",
  },
  {
    type: "schedule.set",
    schedule: "once",
    due: startedAt + 60,
    input: { message: { role: "user", content: "Remind me." } },
    rule: "at 9",
  },
  claimed,
  {
    type: "input.accepted",
    inputId: "i1",
    ...from,
    mode: "enqueue",
    message: { role: "user", content: "Report." },
    labels: { surface: "timer" },
    idempotencyKey: `daily.${startedAt + 50}`,
    origin: { type: "schedule", schedule: "daily", due: startedAt + 50 },
    answer: "Nothing new.",
    verdicts: [{ hook: "canned", point: "accept", action: "answer" }],
  },
  // The same date again, as another node may have written it: it changes nothing.
  {
    type: "input.accepted",
    inputId: "i2",
    runId: "r2",
    mode: "enqueue",
    message: { role: "user", content: "Report." },
    idempotencyKey: `daily.${startedAt + 50}`,
    origin: { type: "schedule", schedule: "daily", due: startedAt + 50 },
  },
  started("r1"),
  {
    type: "model.finished",
    ...from,
    turn: 1,
    attempt: 0,
    message: { role: "assistant", content: text("Nothing new."), stopReason: "stop" },
    stopReason: "stop",
    calls: [],
    timings: { totalMs: 0 },
  },
  { type: "run.finished", ...from, status: "completed", reason: "answer" },
  { type: "schedule.cleared", schedule: "once", by: "ann" },
  { type: "hold.changed", held: true, reason: "a case", by: "legal" },
  { type: "session.changed", retention: { keepMs: 86_400_000 } },
];

/** Summaries: one whose process died, one that its vendor cut, and one that took the place of a part. */
const summaries: readonly FactBody[] = [
  { type: "session.opened", agent: "tester" },
  { type: "input.accepted", inputId: "i1", ...from, mode: "enqueue", message: { role: "user", content: "Which of the two is better?" } },
  claimed,
  started("r1"),
  {
    type: "summary.started",
    ...from,
    provider: "scripted",
    model: "small",
    expected: { usage, cost },
    reservation: "local/s1/r1.1#1/context/1",
  },
  claimed,
  {
    type: "summary.failed",
    ...from,
    provider: "scripted",
    model: "small",
    usage: { ...usage, source: "estimated" },
    cost: { ...cost, partial: true },
  },
  { type: "summary.started", ...from, provider: "scripted", model: "small", expected: { usage } },
  { type: "summary.failed", ...from, provider: "scripted", model: "small" },
  { type: "summary.started", ...from, provider: "scripted", model: "small", expected: { usage } },
  { type: "context.compacted", ...from, from: "2", to: "2", summary: "A question.", model: "small", usage, cost },
  { type: "model.started", ...from, turn: 1, attempt: 1, ...model, requestDigest: "d" },
  {
    type: "model.finished",
    ...from,
    turn: 1,
    attempt: 1,
    message: { role: "assistant", content: text("A is better."), stopReason: "stop" },
    stopReason: "stop",
    calls: [],
    usage,
    timings: { totalMs: 10 },
  },
  { type: "run.finished", ...from, status: "completed", reason: "answer" },
];

/** By the name of their golden log. */
export const writtenLogs: { readonly [name: string]: readonly FactBody[] } = {
  children,
  schedules,
  summaries,
  "waiting-below": waitingBelow,
};
