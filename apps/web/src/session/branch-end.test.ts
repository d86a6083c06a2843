import type { ViewMessage } from "@loopwright/client";
import type { Message } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { branchEnd, questionOf } from "./branch-end.ts";

const children = new Map<string | null, readonly string[]>([
  [null, ["1"]],
  ["1", ["2", "5"]],
  ["2", ["3"]],
  ["5", ["6", "7"]],
]);

it("a branch ends at the message that came last at every fork", () => {
  expect(branchEnd(children, "1")).toBe("7");
  expect(branchEnd(children, "2")).toBe("3");
  expect(branchEnd(children, "7")).toBe("7");
});

it("a circle of messages ends", () => {
  expect(["a", "b"]).toContain(
    branchEnd(
      new Map([
        ["a", ["b"]],
        ["b", ["a"]],
      ]),
      "a",
    ),
  );
});

it("an answer after tools answers the user message before them", () => {
  const messages = new Map<string, ViewMessage>();
  const add = (id: string, parent: string | null, message: Message): void => void messages.set(id, { id, parent, at: 0, message });
  add("1", null, { role: "user", content: "q" });
  add("2", "1", { role: "assistant", content: [], stopReason: "tool_calls" });
  add("3", "2", { role: "tool_result", toolCallId: "c", content: "r" });
  add("4", "3", { role: "assistant", content: [], stopReason: "stop" });
  expect(questionOf(messages, "4")).toBe("1");
  expect(questionOf(messages, "1")).toBe("1");
  expect(questionOf(messages, "9")).toBeUndefined();
});
