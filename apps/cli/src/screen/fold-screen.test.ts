import type { AgentEvent } from "@loopwright/core";
import { expect, test } from "vitest";
import { durable, ephemeral, toolRun } from "../../test/events.ts";
import { neutralise } from "../terminal/neutralise.ts";
import { addNotice, foldScreen, screenOf } from "./fold-screen.ts";
import { emptyScreen, type Screen } from "./screen.ts";

function screenAfter(events: readonly AgentEvent[], from: Screen = emptyScreen): Screen {
  return events.reduce((screen, event, at) => foldScreen(screen, event, 1_000 + at), from);
}

const shape = (screen: Screen): readonly string[] =>
  screen.blocks.map((block) => {
    if (block.kind === "tool") return `tool ${block.name} ${block.phase} ${block.outcome ?? "-"} ${block.output}`;
    return `${block.kind} ${block.isDone ? "" : "(live) "}${block.kind === "notice" ? block.lines.join(" ") : block.text}`;
  });

test("a run with thinking, text and a tool becomes blocks in their order", () => {
  expect(shape(screenAfter(toolRun))).toEqual([
    "user what time is it?",
    "thinking I look.",
    "text I call it.",
    "tool get_time ended ok 12:00",
    "text It is noon.",
  ]);
});

test("usage, cost and context add up over the model calls", () => {
  const screen = screenAfter(toolRun);
  expect(screen.usage).toMatchObject({ input: 30, output: 12, cacheRead: 5 });
  expect(screen.cost?.totalUsd).toBeCloseTo(0.003);
  expect(screen.contextTokens).toBe(32);
  expect(screen.activity).toBe("idle");
});

test("losing every ephemeral event loses nothing but the liveliness", () => {
  const silent = toolRun.filter((event) => !("lane" in event));
  expect(shape(screenAfter(silent))).toEqual(shape(screenAfter(toolRun)));
});

test("a snapshot replaces what was missed", () => {
  const screen = screenAfter([
    durable(1, "message_start", { messageId: "1", role: "assistant" }),
    ephemeral(1, "text_delta", { index: 0, delta: "one " }),
    ephemeral(1, "message_snapshot", { content: [{ type: "text", text: "one two three" }] }),
  ]);
  expect(shape(screen)).toEqual(["text (live) one two three"]);
});

test("a reader that joins in the middle of an answer reads it once: the snapshot, what follows it, and the end", () => {
  const middle = screenAfter([
    ephemeral(1, "message_snapshot", { content: [{ type: "text", text: "one " }] }),
    ephemeral(1, "text_delta", { index: 0, delta: "two " }),
    ephemeral(1, "text_delta", { index: 0, delta: "three" }),
  ]);
  expect(shape(middle)).toEqual(["text (live) one two three"]);
  const message = { role: "assistant", content: [{ type: "text", text: "one two three four" }], stopReason: "stop" } as const;
  expect(shape(screenAfter([durable(2, "message_end", { messageId: "2", message })], middle))).toEqual(["text one two three four"]);
});

test("a late reader sees the calls that are half written, each once, until they are made", () => {
  const calls = [
    { index: 1, toolName: "get_time", argsText: '{"zone":' },
    { index: 2, toolName: "get_time", argsText: "" },
  ];
  const first = { type: "tool_call", callKey: "r.1.0", id: "c1", name: "get_time", args: { zone: "UTC" } } as const;
  const second = { ...first, callKey: "r.1.1", id: "c2" } as const;
  const text = { type: "text", text: "I look." } as const;
  const joined = screenAfter([ephemeral(1, "message_snapshot", { content: [text], calls })]);
  expect(shape(joined)).toEqual(["text (live) I look.", "tool get_time writing - ", "tool get_time writing - "]);
  expect(joined.activity).toBe("writing");
  // The end of the second call comes; then a snapshot, which a vendor's stream has both calls in.
  const oneMade = screenAfter(
    [ephemeral(1, "toolcall_end", { index: 2, toolCall: second }), ephemeral(1, "message_snapshot", { content: [text], calls })],
    joined,
  );
  expect(shape(oneMade)).toEqual(["text (live) I look.", "tool get_time writing - ", "tool get_time waiting - "]);
  const message = { role: "assistant", content: [text, first, second], stopReason: "tool_calls" } as const;
  // The end of the first call never comes: the message has it.
  const ended = screenAfter([durable(2, "message_end", { messageId: "2", message })], oneMade);
  expect(ended.blocks.map(({ id }) => id).slice(1)).toEqual(["r.1.0", "r.1.1"]);
  expect(shape(ended)).toEqual(["text I look.", "tool get_time waiting - ", "tool get_time waiting - "]);
});

test("a snapshot with a whole call takes the place of the call that was being written", () => {
  const call = { type: "tool_call", callKey: "r.1.0", id: "c1", name: "get_time", args: { zone: "UTC" } } as const;
  const screen = screenAfter([
    durable(1, "message_start", { messageId: "1", role: "assistant" }),
    ephemeral(1, "toolcall_start", { index: 0, toolName: "get_time" }),
    ephemeral(1, "message_snapshot", { content: [call] }),
  ]);
  expect(screen.blocks).toMatchObject([{ id: "r.1.0", phase: "waiting", args: '{"zone":"UTC"}' }]);
});

test("a discarded attempt is marked as discarded, and its half-written call disappears", () => {
  const screen = screenAfter([
    durable(1, "message_start", { messageId: "1", role: "assistant" }),
    ephemeral(1, "text_delta", { index: 0, delta: "half" }),
    ephemeral(1, "toolcall_start", { index: 1, toolName: "get_time" }),
    durable(2, "attempt_discarded", { turn: 1, attempt: 1, code: "CRASHED", reason: "died", willRetry: true }),
  ]);
  expect(shape(screen)).toEqual([
    "text half",
    "notice Attempt 1 was thrown away: the process that made it died (CRASHED). It is made again.",
  ]);
});

test("an answer that the application replaced is no attempt that was thrown away, and is explained only where it was read", () => {
  const replaced = {
    turn: 1,
    attempt: 1,
    code: "ANSWER_WITHDRAWN",
    reason: "The application replaced the answer.",
    willRetry: false,
  } as const;
  const start = durable(1, "message_start", { messageId: "1", role: "assistant" });
  const silent = screenAfter([start, durable(2, "attempt_discarded", replaced)]);
  expect(shape(silent)).toEqual([]);
  const read = screenAfter([start, ephemeral(1, "text_delta", { index: 0, delta: "Done." }), durable(2, "attempt_discarded", replaced)]);
  expect(shape(read)).toEqual(["text Done.", "notice The application replaced the answer."]);
  const again = screenAfter([start, durable(2, "attempt_discarded", { ...replaced, willRetry: true })]);
  expect(shape(again)).toEqual([
    "notice Attempt 1 was thrown away: The application replaced the answer (ANSWER_WITHDRAWN). It is made again.",
  ]);
});

test("an aborted run ends every block and keeps the partial answer", () => {
  const screen = screenAfter([
    durable(1, "message_start", { messageId: "1", role: "assistant" }),
    ephemeral(1, "text_delta", { index: 0, delta: "half" }),
    durable(2, "aborting", { reason: "user" }),
    durable(3, "message_end", {
      messageId: "3",
      message: { role: "assistant", content: [{ type: "text", text: "half" }], stopReason: "aborted" },
    }),
    durable(4, "run_end", { status: "aborted", reason: "user" }),
  ]);
  expect(screen.blocks.every((block) => block.isDone)).toBe(true);
  expect(shape(screen)).toEqual(["text half", "notice Stopped. What was written so far is kept."]);
});

test("calls that wait for the person are pending until their result comes", () => {
  const call = { toolCallId: "c", callKey: "r.1.0", toolName: "ask_user", args: { question: "Who?" } };
  const waiting = screenAfter([
    durable(1, "message_start", { messageId: "1", role: "assistant" }),
    durable(2, "message_end", {
      messageId: "2",
      message: {
        role: "assistant",
        content: [{ type: "tool_call", callKey: call.callKey, id: "c", name: "ask_user", args: call.args }],
        stopReason: "tool_calls",
      },
    }),
    durable(3, "awaiting_tool_execution", { toolCalls: [call] }),
  ]);
  expect(waiting.pending).toEqual([call]);
  expect(shape(waiting)).toEqual(["tool ask_user asking - "]);
  const answered = screenAfter(
    [
      durable(4, "message_end", {
        messageId: "4",
        message: { role: "tool_result", toolCallId: "c", callKey: call.callKey, content: "Ada", outcome: "ok" },
      }),
    ],
    waiting,
  );
  expect(answered.pending).toEqual([]);
  expect(shape(answered)).toEqual(["tool ask_user ended ok Ada"]);
});

test("hostile text is harmless wherever it comes from", () => {
  const evil = "\u001b]52;c;eA==\u0007\u202e\u009b2J";
  const screen = addNotice(
    screenAfter([
      durable(1, "message_start", { messageId: "1", role: "assistant" }),
      ephemeral(1, "thinking_delta", { index: 0, delta: evil }),
      ephemeral(1, "text_delta", { index: 1, delta: evil }),
      durable(2, "message_end", { messageId: "1", message: { role: "user", content: evil } }),
      durable(2, "tool_execution_start", {
        toolCallId: "c",
        callKey: "k",
        toolName: evil,
        label: evil,
        attempt: 1,
        args: { [evil]: evil },
      }),
      ephemeral(2, "progress", { callKey: "k", id: "p", title: evil, state: "open" }),
      ephemeral(2, "tool_execution_delta", { toolCallId: "c", callKey: "k", delta: evil }),
      durable(3, "attempt_discarded", { turn: 1, attempt: 1, code: "MODEL_TIMEOUT", reason: evil, willRetry: false }),
    ]),
    "error",
    [evil],
  );
  expect(screen.blocks).toHaveLength(6);
  const notified = screen.blocks
    .flatMap((block) => Object.values({ ...block }))
    .flat()
    .filter((value) => typeof value === "string");
  expect(notified.map(neutralise)).toEqual(notified);
});

test("a transcript is shown as it was, and nothing of it is live", () => {
  const screen = screenOf(emptyScreen, [
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_call", callKey: "r.1.0", id: "c", name: "get_time", args: {} },
      ],
      stopReason: "tool_calls",
    },
    { role: "tool_result", toolCallId: "c", callKey: "r.1.0", content: "12:00", isError: true },
  ]);
  expect(shape(screen)).toEqual(["user hi", "text I look.", "tool get_time ended error 12:00"]);
});

test("a call that a crash cut off is shown with its result when the run continues", () => {
  const past = screenOf(emptyScreen, [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool_call", callKey: "k", id: "c", name: "send", args: {} }], stopReason: "tool_calls" },
  ]);
  expect(shape(past)).toEqual(["user hi", "tool send waiting - "]);
  const result = {
    role: "tool_result",
    toolCallId: "c",
    callKey: "k",
    toolName: "send",
    content: "unknown",
    outcome: "interrupted",
  } as const;
  const interrupted = screenAfter([durable(9, "message_end", { messageId: "9", message: result })], past);
  expect(shape(interrupted).at(-1)).toBe("tool send ended interrupted unknown");
  const again = screenAfter(
    [durable(9, "tool_execution_start", { toolCallId: "c", callKey: "k", toolName: "send", attempt: 2, args: {} })],
    past,
  );
  expect(shape(again).at(-1)).toBe("tool send running - ");
});

test("unknown events change nothing", () => {
  expect(foldScreen(emptyScreen, durable(1, "session_closed", {}), 0)).toBe(emptyScreen);
  expect(foldScreen(emptyScreen, { type: "brand_new", seq: 1, k: 0 } as never, 0)).toBe(emptyScreen);
});

test("a call that needs leave waits for the person until it is decided on, by whomever", () => {
  const call = { toolCallId: "c1", callKey: "r.1.0", toolName: "remove", args: { path: "a" }, argsDigest: "d" };
  const part = { type: "tool_call", callKey: call.callKey, id: "c1", name: "remove", args: call.args } as const;
  const asked = screenAfter([
    durable(3, "run_start", { model: "m", provider: "p" }),
    durable(4, "message_start", { messageId: "4", role: "assistant" }),
    durable(5, "message_end", { messageId: "5", message: { role: "assistant", content: [part], stopReason: "tool_calls" } }),
    durable(6, "approval_requested", call),
  ]);
  expect(asked.approvals).toMatchObject([call]);
  expect([asked.activity, shape(asked)]).toEqual(["asking", ["tool remove asking - "]]);
  const decided = screenAfter([durable(7, "approval_decided", { toolCallId: "c1", callKey: call.callKey, decision: "allow" })], asked);
  expect([decided.approvals, shape(decided)]).toEqual([[], ["tool remove waiting - "]]);
  const result = { role: "tool_result", toolCallId: "c1", callKey: call.callKey, content: "late", outcome: "expired" } as const;
  const expired = screenAfter([durable(7, "message_end", { messageId: "7", message: result })], asked);
  expect([expired.approvals, shape(expired)]).toEqual([[], ["tool remove ended expired late"]]);
});
