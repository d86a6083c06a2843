import type { ViewMessage } from "@loopwright/client";
import type { Message } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { questionOf } from "./question-of.ts";

const answer: Message = { role: "assistant", content: [], stopReason: "stop" };

it("an answer after tools answers the user message before them", () => {
  const messages = new Map<string, ViewMessage>();
  const add = (id: string, parent: string | null, message: Message): void => void messages.set(id, { id, parent, at: 0, message });
  add("1", null, { role: "user", content: "q" });
  add("2", "1", answer);
  add("3", "2", { role: "tool_result", toolCallId: "c", content: "r" });
  add("4", "3", answer);
  expect(questionOf(messages, "4")).toBe("1");
  expect(questionOf(messages, "1")).toBe("1");
  expect(questionOf(messages, "9")).toBeUndefined();
});

it("answers that continue each other in a circle answer nothing", () => {
  const messages = new Map<string, ViewMessage>([
    ["1", { id: "1", parent: "2", at: 0, message: answer }],
    ["2", { id: "2", parent: "1", at: 0, message: answer }],
  ]);
  expect(questionOf(messages, "1")).toBeUndefined();
});
