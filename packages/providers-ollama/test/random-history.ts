import type { AssistantMessage, AssistantPart, Message, ToolResultMessage } from "@loopwright/core";

/** A valid neutral history that is the same for the same seed: ids repeat, texts are blank, thinking is foreign, answers are stopped. */
export function randomHistory(seed: number, vendor: string): readonly Message[] {
  let state = seed * 2_654_435_761 + 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0];
  const words = (): string => pick(["hello", " ", "", "42\n", "é🙂"]);
  const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
  const owner = (): string => pick([vendor, "another"]);

  const messages: Message[] = [{ role: "user", content: "begin" }];
  const turns = 1 + below(6);
  for (let turn = 0; turn < turns; turn++) {
    const calls: AssistantPart[] = Array.from({ length: below(4) }, (_, at) => ({
      type: "tool_call",
      id: pick([`call_${turn}_${at}`, `same_${at}`, `odd.id:${at}/é`, `r.${turn}.${at}`]),
      callKey: `r.${turn}.${at}`,
      name: "look",
      args: { at },
    }));
    const ids = new Set(calls.map((part) => (part.type === "tool_call" ? part.id : "")));
    const kept = ids.size === calls.length ? calls : [];
    const parts: readonly (() => AssistantPart)[] = [
      () => ({ type: "text", text: words() }),
      () => ({ type: "thinking", text: words(), opaque: { vendor: owner(), data: { signature: "s" } } }),
      () => ({ type: "opaque", vendor: owner(), data: { type: "redacted_thinking", data: "x" } }),
      () => ({ type: "opaque", vendor: owner(), data: { type: "server_tool_use", id: `srv_${turn}`, name: "web_search", input: {} } }),
    ];
    const content: AssistantPart[] = Array.from(
      { length: below(4) },
      () => (parts[below(parts.length)] ?? parts[0])?.() ?? { type: "text", text: "" },
    );
    const answer: AssistantMessage = {
      role: "assistant",
      content: [...content, ...kept],
      stopReason: kept.length > 0 ? "tool_calls" : pick(["stop", "aborted"]),
    };
    messages.push(answer, ...kept.flatMap((part): Message[] => (part.type === "tool_call" ? [resultOf(part.id, part.callKey)] : [])));
    if (below(3) === 0) messages.push({ role: "notice", text: "Mind the limit." });
    if (kept.length === 0 || below(4) === 0)
      messages.push({ role: "user", content: below(2) === 0 ? words() : [{ type: "text", text: words() }, image] });
  }
  return messages;

  function resultOf(id: string, callKey: string): ToolResultMessage {
    const key = below(2) === 0 ? {} : { callKey };
    return {
      role: "tool_result",
      toolCallId: pick([id, callKey]),
      ...key,
      content: below(2) === 0 ? words() : [{ type: "json", value: 1 }, image],
    };
  }
}
