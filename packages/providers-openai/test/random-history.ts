import type { AssistantPart, Message, ToolCallPart, ToolResultMessage } from "@loopwright/core";
import * as fc from "fast-check";

const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "abc" };
const opaque = fc.constantFrom(
  { vendor: "openai-responses", data: reasoning },
  { vendor: "openai-responses", data: { ...reasoning, encrypted_content: null } },
  { vendor: "openai-responses", data: { type: "web_search_call", id: "ws_1", status: "completed" } },
  { vendor: "openai-chat", data: { field: "reasoning_content", details: [{ type: "reasoning.text", text: "t" }] } },
  { vendor: "anthropic", data: { signature: "x" } },
);
const said: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.constantFrom("", "Well", "𝄞\n") }),
  fc.tuple(fc.constantFrom("", "hm"), opaque).map(([text, data]): AssistantPart => ({ type: "thinking", text, opaque: data })),
  fc.constant<AssistantPart>({ type: "thinking", text: "of nobody's wire" }),
  opaque.map((data): AssistantPart => ({ type: "opaque", ...data })),
);
const call = fc.record({
  id: fc.constantFrom("call_1", "call_1", "call_2", "toolu-é/:", "x".repeat(80), "a1B2c3D4e"),
  name: fc.constantFrom("look", "find-it", "no such.tool!"),
  problem: fc.constantFrom(undefined, "invalid_json" as const, "truncated" as const),
  byKey: fc.boolean(),
  output: fc.constantFrom<ToolResultMessage["content"]>(
    "fine",
    "",
    [],
    [{ type: "json", value: { n: 1 } }, image],
    [{ type: "text", text: "" }],
  ),
});
const turn = fc.record({
  said: fc.array(said, { maxLength: 3 }),
  calls: fc.array(call, { maxLength: 4 }),
  after: fc.constantFrom<readonly Message[]>(
    [],
    [{ role: "notice", text: "Mind the limit." }],
    [{ role: "user", content: "go on" }],
    [
      { role: "notice", text: "Mind the limit." },
      { role: "user", content: [{ type: "text", text: "" }, image] },
      { role: "user", content: [{ type: "file", mediaType: "text/plain", name: "n.txt", source: { data: "aGk=" } }] },
    ],
  ),
});

/** Valid neutral histories: ids repeat over turns and are of any kind, opaque data is foreign or own, answers are empty or cut off. */
export const history: fc.Arbitrary<readonly Message[]> = fc.array(turn, { minLength: 1, maxLength: 5 }).map((turns) => {
  const messages: Message[] = [{ role: "user", content: "begin" }];
  for (const [number, { said: parts, calls, after }] of turns.entries()) {
    // In one message ids are unique: that much a history promises.
    const unique = calls.filter(({ id }, at) => calls.findIndex((other) => other.id === id) === at);
    const asked = unique.map(
      ({ id, name, problem }, at): ToolCallPart => ({
        type: "tool_call",
        callKey: `01hx3run.${number}.${at}`,
        id,
        name,
        args: {},
        ...(problem === undefined ? {} : { problem, argsText: '{"a":' }),
      }),
    );
    messages.push({ role: "assistant", content: [...parts, ...asked], stopReason: asked.length > 0 ? "tool_calls" : "stop" });
    for (const [at, { id, byKey, output }] of unique.entries()) {
      const callKey = `01hx3run.${number}.${at}`;
      messages.push({ role: "tool_result", toolCallId: byKey ? callKey : id, ...(byKey ? { callKey } : {}), content: output });
    }
    messages.push(...after);
  }
  return messages;
});
