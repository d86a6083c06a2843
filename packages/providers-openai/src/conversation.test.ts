import type { JsonObject, Message } from "@loopwright/core";
import type { ToolSpec } from "@loopwright/core/ports";
import { expect, test } from "vitest";
import { bodyText, type ConversationWriter, createConversations } from "./conversation.ts";
import { createToolLists } from "./tool-lists.ts";

const user = (content: string): Message => ({ role: "user", content });

/** Writes every message as its text, joins neighbours that begin with `+`, and ends with a mark. */
function createWriter(added: string[]): ConversationWriter {
  const items: JsonObject[] = [];
  return {
    items,
    closing: () => [{ mark: items.length }],
    add(message) {
      const text = message.role === "user" ? String(message.content) : "";
      if (text === "!") throw new Error("cannot be written");
      added.push(text);
      const last = items.at(-1);
      if (last !== undefined && text.startsWith("+")) items[items.length - 1] = { text: `${String(last["text"])}${text}` };
      else items.push({ text });
    },
  };
}

const start = [{ role: "system" }];

test("writes the same text as JSON.stringify at every length, also where a message joins the one before", () => {
  const itemsOf = createConversations(() => createWriter([]));
  const messages = ["a", 'b "quoted" \u2028', "+c", "d", "+e", "+f", "g \u{1f600}"].map(user);
  for (let length = 0; length <= messages.length; length++) {
    const body = { model: "m", messages: itemsOf(messages.slice(0, length), start), stream: true };
    expect(bodyText(body)).toBe(JSON.stringify(body));
  }
});

test("writes only what is new when a request continues an earlier one", () => {
  const added: string[] = [];
  const itemsOf = createConversations(() => createWriter(added));
  const [a, b, c] = [user("a"), user("b"), user("c")];
  itemsOf([a, b]);
  itemsOf([a, b, c]);
  expect(added).toEqual(["a", "b", "c"]);
});

test("begins anew for a branch, for a shorter request and for another conversation", () => {
  const itemsOf = createConversations(() => createWriter([]));
  const [a, b, c, d] = [user("a"), user("b"), user("c"), user("d")];
  const texts = [[a, b, c], [a, d], [a], [b], [a, b, c]].map((messages) => bodyText({ input: itemsOf(messages) }));
  expect(texts).toEqual([
    '{"input":[{"text":"a"},{"text":"b"},{"text":"c"},{"mark":3}]}',
    '{"input":[{"text":"a"},{"text":"d"},{"mark":2}]}',
    '{"input":[{"text":"a"},{"mark":1}]}',
    '{"input":[{"text":"b"},{"mark":1}]}',
    '{"input":[{"text":"a"},{"text":"b"},{"text":"c"},{"mark":3}]}',
  ]);
});

test("keeps nothing of a request with a message that cannot be written", () => {
  const itemsOf = createConversations(() => createWriter([]));
  const [a, b] = [user("a"), user("b")];
  itemsOf([a]);
  expect(() => itemsOf([a, b, user("!")])).toThrow("cannot be written");
  expect(bodyText({ input: itemsOf([a, b]) })).toBe('{"input":[{"text":"a"},{"text":"b"},{"mark":2}]}');
});

test("leaves members out that are not defined, and writes what is no conversation as it is", () => {
  const body: JsonObject = { model: "m", tools: [{ a: 1 }], input: "only text" };
  expect(bodyText(Object.assign(body, { temperature: undefined }))).toBe('{"model":"m","tools":[{"a":1}],"input":"only text"}');
});

test("writes the tools once for all requests that show the same ones, in whatever list, and anew for others", () => {
  const made: string[] = [];
  const toolsOf = createToolLists((spec) => {
    made.push(spec.name);
    return { name: spec.name };
  });
  const specOf = (name: string): ToolSpec => ({ name, description: "", parameters: { type: "object" } });
  const [a, b] = [specOf("a"), specOf("b")];
  const texts = [[a, b], [a, b], [a], [a, b], [], [b]].map((specs) => bodyText({ tools: toolsOf(specs) }));
  const both = '{"tools":[{"name":"a"},{"name":"b"}]}';
  expect(texts).toEqual([both, both, '{"tools":[{"name":"a"}]}', both, '{"tools":[]}', '{"tools":[{"name":"b"}]}']);
  expect(made.join("")).toBe("abaabb");
});
