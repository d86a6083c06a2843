import type { ViewCall, ViewMessage } from "@loopwright/client";
import type { ToolCallPart } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { argsLine, shownCall, writtenCall } from "./shown-call.ts";

const part: ToolCallPart = { type: "tool_call", callKey: "r.1.0", id: "c1", name: "read_file", args: { path: "a.md" } };
const call: ViewCall = {
  callKey: "r.1.0",
  toolCallId: "c1",
  toolName: "read_file",
  args: { path: "b.md" },
  state: "running",
  written: "half",
  progress: [],
};
const result: ViewMessage = {
  id: "4",
  parent: "3",
  at: 0,
  message: { role: "tool_result", toolCallId: "c1", callKey: "r.1.0", content: "text", durationMs: 12, details: { n: 1 } },
};

it("a running call shows what it writes and the arguments that count", () => {
  expect(shownCall(part, call, undefined)).toMatchObject({ state: "running", written: "half", args: { path: "b.md" } });
});

it("a call of long ago shows its result", () => {
  expect(shownCall(part, undefined, result)).toMatchObject({
    state: "ok",
    args: { path: "a.md" },
    output: [{ type: "text", text: "text" }],
    durationMs: 12,
    details: { n: 1 },
  });
});

it("a call that this page saw end keeps its outcome and its steps", () => {
  const ended: ViewCall = {
    ...call,
    state: "done",
    outcome: "denied",
    output: [],
    progress: [{ id: "a", title: "Opened", state: "done" }],
  };
  expect(shownCall(part, ended, result)).toMatchObject({ state: "denied", progress: [{ title: "Opened" }] });
});

it("a result with only a failure is an error", () => {
  const failed: ViewMessage = { ...result, message: { role: "tool_result", toolCallId: "c1", content: "no", isError: true } };
  expect(shownCall(part, undefined, failed).state).toBe("error");
});

it("a call without a result was asked for, and one that is being written is not even that", () => {
  expect(shownCall(part, undefined, undefined).state).toBe("pending");
  expect(writtenCall("k", "read_file", { argsText: '{"pa', ended: false })).toMatchObject({ state: "writing", argsText: '{"pa' });
});

it("arguments that cannot be read are shown as they were written", () => {
  const broken: ToolCallPart = { ...part, args: {}, argsText: '{"path": ', problem: "invalid_json" };
  expect(shownCall(broken, undefined, result)).toMatchObject({ argsText: '{"path": ' });
  expect(shownCall(broken, undefined, result).args).toBeUndefined();
});

it("arguments fit in a line", () => {
  expect(argsLine({ args: { path: "a\n b.md" } })).toBe("a b.md");
  expect(argsLine({ args: { path: "a.md", lines: 3, deep: { x: [1] } } })).toBe('path: a.md, lines: 3, deep: {"x":[1]}');
  expect(argsLine({ args: { text: "x".repeat(5000) } })).toHaveLength(90);
  expect(argsLine({ args: {} })).toBe("");
});
