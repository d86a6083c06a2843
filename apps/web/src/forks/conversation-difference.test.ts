import type { Message } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { differenceOf, wordsOf } from "./conversation-difference.ts";

const placed = (...messages: readonly Message[]) => messages.map((message, at) => ({ id: `${at}`, message }));
const question: Message = { role: "user", content: "How many?" };
const answer = (text: string, more: object = {}): Message => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason: "stop",
  ...more,
});
const called = (id: string, args: { readonly [name: string]: number }): Message => ({
  role: "assistant",
  content: [{ type: "tool_call", callKey: `run.${id}`, id, name: "count", args }],
  stopReason: "tool_calls",
});

it("conversations are equal whatever their ids, their usage and the order of their members are", () => {
  const one = placed(question, called("a", { from: 1, to: 2 }), answer("Two.", { usage: { input: 1, output: 2 } }));
  const other = placed(question, called("b", { to: 2, from: 1 }), answer("Two."));
  expect(differenceOf(one, other)).toBeUndefined();
});

it("the first message that differs is found, also where one of them has ended", () => {
  const one = placed(question, called("a", { from: 1 }), answer("Two."));
  expect(differenceOf(one, placed(question, called("a", { from: 2 }), answer("Two.")))).toMatchObject({ equal: 1, one: one[1] });
  expect(differenceOf(one, placed(question))).toEqual({ equal: 1, one: one[1] });
  expect(differenceOf([], placed(question))).toEqual({ equal: 0, other: { id: "0", message: question } });
});

it("a message is shown with its texts, its thinking and its calls", () => {
  expect(wordsOf(question)).toBe("How many?");
  const content = [
    { type: "thinking", text: "Hm." },
    { type: "text", text: "I count." },
  ] as const;
  const [call] =
    called("a", { from: 1 }).role === "assistant" ? (called("a", { from: 1 }) as Extract<Message, { role: "assistant" }>).content : [];
  const whole: Message = { role: "assistant", content: [...content, ...(call ? [call] : [])], stopReason: "tool_calls" };
  expect(wordsOf(whole)).toBe('Thinking: Hm.\n\nI count.\n\ncount {\n  "from": 1\n}');
  expect(wordsOf({ role: "notice", text: "The limit is near." })).toBe("The limit is near.");
});
