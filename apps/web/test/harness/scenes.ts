import { applyEvents, type SessionView, viewOf } from "@loopwright/client";
import type { CallOutcome, DurableEvent, SessionSnapshot, SnapshotMessage, ToolResultMessage } from "@loopwright/core/protocol";
import { longSession } from "./sample-session.ts";
import { everyBlock, hostile } from "./sample-text.ts";

export interface Scene {
  readonly view: SessionView;
  readonly events?: readonly DurableEvent[];
}

const at = Date.UTC(2026, 10, 21, 8, 0, 0);

function snapshotOf(messages: readonly SnapshotMessage[], more: Partial<SessionSnapshot> = {}): SessionSnapshot {
  return {
    sessionId: "sample",
    agent: "assistant",
    status: "idle",
    createdAt: at,
    updatedAt: at,
    cursor: "50.0",
    messages,
    head: messages.at(-1)?.id ?? null,
    waiting: [],
    ...more,
  };
}

const written = (id: string, parent: string | null, message: SnapshotMessage["message"], runId = "r1"): SnapshotMessage => ({
  id,
  parent,
  runId,
  at: at + Number(id) * 1000,
  message,
});

const call = (index: number, name: string, args: Record<string, string | number>) =>
  ({ type: "tool_call", callKey: `r1.1.${index}`, id: `c${index}`, name, args }) as const;

const asks: SnapshotMessage = written("3", "2", {
  role: "assistant",
  model: "sample-large-1",
  stopReason: "tool_calls",
  usage: { input: 1840, output: 96, cacheRead: 12_000 },
  cost: { totalUsd: 0.00312 },
  content: [
    { type: "thinking", text: "The user wants two numbers. I should look them up **in parallel** and then compare them." },
    { type: "text", text: "I will look both up." },
    call(0, "web_search", { query: "median time to first token, streaming answers 2026" }),
    call(1, "read_file", { path: "notes/latency.md", lines: 40 }),
    call(2, "run_command", { command: "npm run bench -- --only latency" }),
  ],
});

const question: SnapshotMessage = written("2", null, {
  role: "user",
  content: [
    { type: "text", text: "How long until the first token comes, and is that better than last month?" },
    { type: "image", mediaType: "image/png", source: { blob: "chart" } },
    { type: "file", mediaType: "text/csv", name: "latencies.csv", source: { blob: "csv" } },
  ],
});

const result = (id: string, index: number, content: string, more: Partial<ToolResultMessage> = {}): SnapshotMessage =>
  written(id, String(Number(id) - 1), {
    role: "tool_result",
    toolCallId: `c${index}`,
    callKey: `r1.1.${index}`,
    content,
    durationMs: 340 * (index + 1),
    ...more,
  });

const answered: readonly SnapshotMessage[] = [
  question,
  asks,
  result("4", 0, '{"hits": [{"title": "Latency of streaming", "p50": 310}], "total": 1}'),
  result("5", 1, "Last month: p50 410 ms, p99 1900 ms."),
  result("6", 2, "\u001b[31mnpm error\u001b[0m missing script: bench", { isError: true, outcome: "error" }),
  written("7", "6", {
    role: "assistant",
    model: "sample-large-1",
    stopReason: "stop",
    usage: { input: 2100, output: 640, cacheRead: 14_000, reasoning: 120 },
    cost: { totalUsd: 0.0113 },
    content: [{ type: "text", text: everyBlock }],
  }),
];

const ends = { status: "failed", reason: "MODEL_RATE_LIMITED" } as const;

/** What the page can be shown with. */
export const scenes: { readonly [name: string]: (count: number) => Scene } = {
  long: (count) => ({ view: viewOf(longSession(count)) }),
  sample: () => ({
    view: viewOf(
      snapshotOf([
        ...answered,
        written("8", "7", { role: "user", content: "Thank you." }, "r2"),
        written(
          "9",
          "8",
          { role: "assistant", model: "sample-large-1", stopReason: "stop", content: [{ type: "text", text: "You are welcome." }] },
          "r2",
        ),
        written(
          "10",
          "8",
          { role: "assistant", model: "sample-large-1", stopReason: "aborted", content: [{ type: "text", text: "You are very welc" }] },
          "r3",
        ),
      ]),
    ),
  }),
  hostile: () => ({
    view: viewOf(
      snapshotOf([
        written("2", null, { role: "user", content: hostile }),
        written("3", "2", {
          role: "assistant",
          stopReason: "stop",
          content: [{ type: "text", text: `${hostile}\n\n\`\`\`\n${hostile}\n\`\`\`` }],
        }),
      ]),
    ),
  }),
  failed: () => ({
    view: viewOf(
      snapshotOf([question], {
        lastRun: {
          runId: "r1",
          ...ends,
          failure: { code: "MODEL_RATE_LIMITED", message: "The vendor refused 3 attempts: 429.", retryable: true },
        },
      }),
    ),
  }),
  running: () => ({
    view: applyEvents(
      viewOf(
        snapshotOf([question, asks, result("4", 0, "{}")], {
          status: "running",
          head: "4",
          run: {
            runId: "r1",
            provider: "sample",
            model: "sample-large-1",
            turn: 1,
            tools: [
              {
                toolCallId: "c1",
                callKey: "r1.1.1",
                toolName: "read_file",
                args: { path: "notes/latency.md" },
                lane: 20,
                startedAt: Date.now() - 4000,
              },
            ],
            pendingToolCalls: [{ toolCallId: "c2", callKey: "r1.1.2", toolName: "run_command", args: { command: "npm run bench" } }],
          },
        }),
      ),
      [
        { type: "progress", callKey: "r1.1.1", id: "a", title: "Opened the file", state: "done", lane: 20, n: 1 },
        { type: "progress", callKey: "r1.1.1", id: "b", title: "Reading 12,000 lines", state: "open", lane: 20, n: 2 },
        { type: "tool_execution_delta", toolCallId: "c1", callKey: "r1.1.1", delta: "p50 410 ms\np99 1900 ms\n", lane: 20, n: 3 },
      ],
    ),
  }),
  run: () => ({ view: viewOf(snapshotOf(answered)), events: runEvents() }),
};

type Place = "seq" | "k" | "at" | "sessionId" | "runId";
type WithoutPlace<Event> = Event extends DurableEvent ? Omit<Event, Place> : never;
type Body = WithoutPlace<DurableEvent>;

function runEvents(): readonly DurableEvent[] {
  let seq = 0;
  const event = (afterMs: number, body: Body): DurableEvent =>
    ({ seq: ++seq, k: 0, at: at + afterMs, sessionId: "sample", runId: "r1", ...body }) as DurableEvent;
  const start = (index: number, name: string, label: string, afterMs: number): DurableEvent =>
    event(afterMs, {
      type: "tool_execution_start",
      toolCallId: `c${index}`,
      callKey: `r1.1.${index}`,
      toolName: name,
      label,
      attempt: 1,
      args: {},
    });
  const end = (index: number, name: string, afterMs: number, outcome: CallOutcome): DurableEvent =>
    event(afterMs, {
      type: "tool_execution_end",
      toolCallId: `c${index}`,
      callKey: `r1.1.${index}`,
      toolName: name,
      outcome,
      output: [],
      durationMs: 1,
    });
  return [
    event(0, { type: "input_accepted", inputId: "i1", mode: "enqueue" }),
    event(120, { type: "run_start", model: "sample-large-1", provider: "sample" }),
    event(121, { type: "message_end", messageId: "2", parent: null, message: question.message }),
    event(130, { type: "turn_start", turn: 1 }),
    event(130, { type: "message_start", role: "assistant" }),
    event(900, {
      type: "attempt_discarded",
      turn: 1,
      attempt: 1,
      code: "MODEL_OVERLOADED",
      reason: "The vendor is overloaded: 529.",
      willRetry: true,
    }),
    event(900, { type: "retry_scheduled", turn: 1, until: at + 1900, reason: "The vendor is overloaded: 529." }),
    event(1905, { type: "message_start", role: "assistant" }),
    event(4100, {
      type: "message_end",
      messageId: "3",
      parent: "2",
      message: asks.message,
      usage: { input: 1840, output: 96, cacheRead: 12000 },
      cost: { totalUsd: 0.00312 },
      timings: { totalMs: 2195, firstTokenMs: 420 },
    }),
    start(0, "web_search", "Search the web", 4110),
    start(1, "read_file", "Read a file", 4112),
    start(2, "run_command", "Run a command", 4114),
    end(1, "read_file", 4350, "ok"),
    end(0, "web_search", 5800, "ok"),
    end(2, "run_command", 6900, "error"),
    event(6901, { type: "turn_end", turn: 1 }),
    event(6910, { type: "turn_start", turn: 2 }),
    event(6910, { type: "message_start", role: "assistant" }),
    event(12_400, {
      type: "message_end",
      messageId: "7",
      parent: "6",
      message: answered.at(-1)?.message ?? asks.message,
      usage: { input: 2100, output: 640, cacheRead: 14000 },
      cost: { totalUsd: 0.0113 },
      timings: { totalMs: 5490, firstTokenMs: 610 },
    }),
    event(12_401, { type: "turn_end", turn: 2 }),
    event(12_405, {
      type: "run_end",
      status: "completed",
      reason: "answer",
      usage: { input: 3940, output: 736, cacheRead: 26000 },
      cost: { totalUsd: 0.01442 },
    }),
  ];
}
