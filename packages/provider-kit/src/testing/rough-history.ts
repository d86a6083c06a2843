import type { AssistantPart, Message, Opaque, ToolCallPart, ToolResultMessage, UserPart } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import { opaqueSamples } from "@loopwright/testing";

const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
const file = { type: "file", mediaType: "text/plain", name: "n.txt", source: { data: "aGk=" } } as const;

/**
 * A conversation as rough as a provider may be given one, the same for the same seed: every call has its result in order, and that
 * is all. Blank texts, answers of nothing, answers cut off, ids and names of no wire's alphabet, ids that repeat over turns, images,
 * files, thinking and opaque data of every vendor and of none. The runtime's own requests are tamer: see `requestsOfLog`.
 */
export function roughHistory(seed: number): readonly Message[] {
  const draw = createDraw(seed);
  const messages: Message[] = [{ role: "user", content: "begin" }];
  const turns = 1 + draw.below(6);
  let blocks = 0;
  for (let turn = 0; turn < turns; turn++) {
    const calls = callsOf(draw, turn);
    messages.push({
      role: "assistant",
      content: [...draw.list(4, () => written(draw, String(blocks++))), ...calls],
      stopReason: calls.length > 0 ? "tool_calls" : draw.pick(["stop", "aborted"]),
    });
    for (const call of calls) messages.push(resultOf(draw, call));
    if (draw.below(3) === 0) messages.push({ role: "notice", text: "Mind the limit." });
    if (calls.length === 0 || draw.below(4) === 0) messages.push(...draw.list(3, () => input(draw)), input(draw));
  }
  return messages;
}

interface Draw {
  readonly below: (limit: number) => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  /** Fewer than `limit`. */
  readonly list: <Item>(limit: number, make: () => Item) => readonly Item[];
}

function createDraw(seed: number): Draw {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return {
    below,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
    list: (limit, make) => Array.from({ length: below(limit) }, make),
  };
}

function words(draw: Draw): string {
  return draw.pick(["hello", " ", "", "42\n", "é🙂"]);
}

function maybe(draw: Draw, samples: readonly Opaque[]): { readonly opaque?: Opaque } {
  return draw.below(3) === 0 ? {} : { opaque: draw.pick(samples) };
}

function written(draw: Draw, unique: string): AssistantPart {
  const { text, thinking, alone } = opaqueSamples(unique);
  const kind = draw.below(3);
  if (kind === 0) return { type: "text", text: words(draw), ...maybe(draw, text) };
  if (kind === 1) return { type: "thinking", text: words(draw), ...maybe(draw, thinking) };
  return { type: "opaque", ...(draw.pick(alone)[0] as Opaque) };
}

/** In one message ids are unique: that much a history promises. */
function callsOf(draw: Draw, turn: number): readonly ToolCallPart[] {
  const calls = draw
    .list(4, () => draw.below(8))
    .map((problem, at): ToolCallPart => {
      const callKey = `01hx3run.${turn}.${at}`;
      return {
        type: "tool_call",
        id: draw.pick([`call_${turn}_${at}`, "call_1", `same_${at}`, `odd.id:${at}/é`, "x".repeat(80), "a1B2c3D4e", callKey]),
        callKey,
        name: draw.pick(["look", "look", "find-it", "no such.tool!"]),
        ...(problem === 0 ? { args: {}, problem: "truncated", argsText: '{"a":' } : { args: { at } }),
        ...maybe(draw, opaqueSamples(`${turn}_${at}`).call),
      };
    });
  return calls.filter(({ id }, at) => calls.findIndex((other) => other.id === id) === at);
}

function resultOf(draw: Draw, { id, callKey }: ToolCallPart): ToolResultMessage {
  const byKey = draw.below(2) === 0;
  return {
    role: "tool_result",
    toolCallId: byKey ? draw.pick([id, callKey]) : id,
    ...(byKey ? { callKey } : {}),
    content: draw.pick<ToolResultMessage["content"]>([
      "fine",
      words(draw),
      [],
      [{ type: "json", value: { n: 1 } }, image],
      [{ type: "text", text: words(draw) }, file],
    ]),
    ...(draw.below(4) === 0 ? { isError: true } : {}),
  };
}

function input(draw: Draw): Message {
  const parts: readonly UserPart[] = [{ type: "text", text: words(draw) }, draw.pick([image, file, { type: "json", value: [1] }])];
  return { role: "user", content: draw.below(2) === 0 ? words(draw) : parts };
}
