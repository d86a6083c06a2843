import { createHash } from "node:crypto";
import type { ModelRequest } from "@loopwright/core/ports";

/** One piece of a request, in the order in which a vendor's cache reads it: tools, system parts, messages. */
export interface Segment {
  /** `tool search`, `system 2 (memory)`, `message 3 (user)`, `options`. */
  readonly name: string;
  readonly kind: "tools" | "system" | "history" | "options";
  /** Digest of its content: the content itself is not kept. */
  readonly digest: string;
  /** An estimate: four characters a token. */
  readonly tokens: number;
}

/** The pieces of a request. A vendor's cache is good up to the first one that differs. */
export function segmentsOf({ tools = [], system = [], messages, model, reasoning, output, toolChoice }: ModelRequest): readonly Segment[] {
  // A change of these is a change of the whole cache: they decide how the vendor reads the rest.
  const options = { model, reasoning, output, toolChoice: tools.length > 0 ? toolChoice : undefined };
  return [
    segment("options", `options (model ${model})`, options),
    ...tools.map((tool) => segment("tools", `tool ${tool.name}`, tool)),
    ...system.map(({ text, source, cache }, at) => segment("system", `system ${at + 1} (${source ?? "prompt"})`, { text, cache })),
    ...messages.map((message, at) => segment("history", `message ${at + 1} (${message.role})`, withoutNumbers(message))),
  ];
}

function segment(kind: Segment["kind"], name: string, content: object): Segment {
  const text = JSON.stringify(content);
  return {
    name,
    kind,
    digest: createHash("sha256").update(text).digest("base64url").slice(0, 22),
    tokens: kind === "options" ? 0 : Math.ceil(text.length / 4),
  };
}

/** Usage and cost of an answer are not sent to a vendor. */
function withoutNumbers(message: ModelRequest["messages"][number]): object {
  if (message.role !== "assistant") return message;
  const { usage: _, cost: __, stopReasonRaw: ___, ...rest } = message;
  return rest;
}

/** The first piece that differs from the request before; `undefined`: the request before is the beginning of this one. */
export function firstChange(
  before: readonly Segment[],
  now: readonly Segment[],
): { readonly at: number; readonly segment: Segment } | undefined {
  for (let at = 0; at < before.length; at++) {
    const [was, is] = [before[at], now[at]];
    if (was && was.digest !== is?.digest) return { at, segment: is ?? was };
  }
  return undefined;
}
