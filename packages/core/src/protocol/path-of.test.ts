import { expect, it } from "vitest";
import type { Message } from "../message/message.ts";
import { isId, refKey } from "../message/session-ref.ts";
import { pathOf } from "./path-of.ts";

const placed = (id: string, parent: string | null, message: Message) => ({ id, parent, message });
const user = (content: string): Message => ({ role: "user", content });
const result = (callKey: string): Message => ({ role: "tool_result", toolCallId: callKey, callKey, content: callKey });
const answer: Message = { role: "assistant", content: [], stopReason: "tool_calls" };

const messages = [
  placed("1", null, user("Look at all three.")),
  placed("2", "1", answer),
  // They came in another order than the model asked for them.
  placed("5", "2", result("r.1.10")),
  placed("6", "5", result("r.1.2")),
  placed("7", "6", result("r.1.0")),
  placed("8", "7", answer),
  placed("9", "1", user("A branch.")),
];

it("the path to the head has parallel results in the order of their calls, from a list as from a map", () => {
  const ids = ["1", "2", "7", "6", "5", "8"];
  expect(pathOf({ messages, head: "8" }).map(({ id }) => id)).toEqual(ids);
  expect(pathOf({ messages: new Map(messages.map((one) => [one.id, one])), head: "8" }).map(({ id }) => id)).toEqual(ids);
  expect(pathOf({ messages, head: "9" }).map(({ id }) => id)).toEqual(["1", "9"]);
});

it("the path is empty without a head, and ends in a damaged snapshot too", () => {
  expect(pathOf({ messages, head: null })).toEqual([]);
  expect(pathOf({ messages, head: "none" })).toEqual([]);
  const circle = [placed("1", "2", user("a")), placed("2", "1", user("b"))];
  expect(pathOf({ messages: circle, head: "1" })).toHaveLength(2);
});

it("an id is 1 to 64 characters of a-z, 0-9, _ and -, beginning with a letter or digit; a key names one session", () => {
  for (const id of ["a", "0", "a-b_c", "a".repeat(64)]) expect(isId(id), id).toBe(true);
  for (const id of ["", "-a", "_a", "A", "a b", "a/b", "a.b", "ä", "a\n", "a".repeat(65)]) expect(isId(id), id).toBe(false);
  expect(refKey({ scope: "a-b", session: "c" })).not.toBe(refKey({ scope: "a", session: "b-c" }));
});
