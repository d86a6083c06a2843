import type { AssistantPart, Message, ToolResultMessage } from "@loopwright/core";

/** A valid neutral history, the same for the same seed: ids repeat over turns, opaque data is foreign or own, answers are cut off. */
export function randomHistory(seed: number, vendor: string): readonly Message[] {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0];
  const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
  const opaqueOf = () => pick([undefined, { vendor, data: { thoughtSignature: "s" } }, { vendor: "another", data: { signature: "x" } }]);
  const spread = (opaque: ReturnType<typeof opaqueOf>) => (opaque ? { opaque } : {});
  const said = (): AssistantPart =>
    pick<() => AssistantPart>([
      () => ({ type: "text", text: pick(["a", "42\n", "é🙂"]), ...spread(opaqueOf()) }),
      () => ({ type: "thinking", text: pick(["", "hm"]), ...spread(opaqueOf()) }),
      () => ({ type: "opaque", vendor: "another", data: { type: "redacted_thinking", data: "x" } }),
      () => ({ type: "opaque", vendor, data: { part: { executableCode: { language: "PYTHON", code: "1" } } } }),
      () => ({ type: "opaque", vendor, data: { part: { text: "", thoughtSignature: "s" } } }),
    ])();

  const messages: Message[] = [{ role: "user", content: "begin" }];
  const turns = 1 + below(6);
  for (let turn = 0; turn < turns; turn++) {
    const calls: AssistantPart[] = Array.from({ length: below(4) }, (_, at) => ({
      type: "tool_call",
      callKey: `r.${turn}.${at}`,
      id: pick([`call_${turn}_${at}`, `same_${at}`, `odd.id:${at}/é`, `r.${turn}.${at}`]),
      name: pick(["look", "find-it"]),
      args: { at },
      ...spread(opaqueOf()),
    }));
    messages.push({
      role: "assistant",
      content: [...Array.from({ length: below(3) }, said), ...calls],
      stopReason: calls.length > 0 ? "tool_calls" : "stop",
    });
    for (const call of calls) if (call.type === "tool_call") messages.push(resultOf(call.id, call.callKey));
    if (calls.length === 0 || below(3) === 0) {
      messages.push(
        below(2) === 0 ? { role: "notice", text: "Mind the limit." } : { role: "user", content: [{ type: "text", text: "go on" }, image] },
      );
    }
  }
  return messages;

  function resultOf(id: string, callKey: string): ToolResultMessage {
    return {
      role: "tool_result",
      toolCallId: pick([id, callKey]),
      callKey,
      content: pick<ToolResultMessage["content"]>(["fine", [{ type: "json", value: { n: 1 } }, image], [{ type: "text", text: "x" }]]),
      ...(below(4) === 0 ? { isError: true } : {}),
    };
  }
}
