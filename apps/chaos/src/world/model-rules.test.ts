import { expect, it } from "vitest";
import { refusalOf, type WireMessage } from "./model-rules.ts";

const user: WireMessage = { role: "user", content: "Hello" };
const calls = (...ids: readonly string[]): WireMessage => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, function: { name: "pay", arguments: "{}" } })),
});
const result = (id: string): WireMessage => ({ role: "tool", tool_call_id: id, content: "done" });

it("takes what a strict vendor takes", () => {
  expect(refusalOf([{ role: "system", content: "Be kind." }, user])).toBeUndefined();
  expect(refusalOf([user, calls("a", "b"), result("b"), result("a"), user])).toBeUndefined();
});

it.each<[string, readonly WireMessage[], RegExp]>([
  ["nothing at all", [], /no messages/],
  ["a result without a call", [user, result("a")], /answers a call that is not open/],
  ["a result that comes twice", [user, calls("a"), result("a"), result("a")], /answers a call that is not open/],
  ["a call without a result", [user, calls("a"), user], /before the results of 1 calls/],
  ["results that are missing at the end", [user, calls("a", "b"), result("a")], /results of 1 calls are missing/],
  ["one id for two calls", [user, calls("a", "a")], /has the id a twice/],
  ["an empty answer", [user, { role: "assistant", content: "" }, user], /is empty/],
  ["an empty question", [{ role: "user", content: "" }], /is empty/],
  ["an answer at the end", [user, { role: "assistant", content: "Hi" }], /the last message is the assistant's/],
  ["a role of its own", [{ role: "tutor", content: "Hi" }], /has the role tutor/],
])("refuses %s", (_, messages, reason) => {
  expect(refusalOf(messages)).toMatch(reason);
});

it("refuses arguments that are no object", () => {
  const call: WireMessage = { role: "assistant", tool_calls: [{ id: "a", function: { name: "pay", arguments: "[1" } }] };
  expect(refusalOf([user, call, result("a"), user])).toMatch(/no JSON object/);
});
