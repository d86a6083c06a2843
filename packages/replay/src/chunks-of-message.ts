import type { AssistantMessage, ModelChunk, Usage } from "@loopwright/core";

type AssistantPart = AssistantMessage["content"][number];

/** The chunks from which the content of the message is assembled again. */
export function chunksOfContent(content: AssistantMessage["content"]): readonly ModelChunk[] {
  return content.flatMap(chunksOfPart);
}

/** The last chunks of a whole answer. */
export function endOfMessage(message: AssistantMessage, usage: Usage | undefined): readonly ModelChunk[] {
  const { stopReason, stopReasonRaw, errorMessage, model } = message;
  const end: ModelChunk = {
    type: "end",
    stopReason: stopReason === "aborted" ? "stop" : stopReason,
    ...(stopReasonRaw === undefined ? {} : { raw: stopReasonRaw }),
    ...(errorMessage === undefined ? {} : { message: errorMessage }),
    ...(model === undefined ? {} : { model }),
  };
  return usage ? [{ type: "usage", usage }, end] : [end];
}

function chunksOfPart(part: AssistantPart, index: number): readonly ModelChunk[] {
  switch (part.type) {
    case "text":
    case "thinking":
      return [{ type: part.type, index, delta: part.text }, ...opaqueOf(part.opaque, index), { type: "block-end", index }];
    case "tool_call": {
      const { id, callKey, name, args, argsText, opaque } = part;
      return [
        { type: "call-start", index, ...(id === callKey ? {} : { id }), name },
        { type: "call-args", index, delta: argsText ?? JSON.stringify(args) },
        ...opaqueOf(opaque, index),
        { type: "call-end", index },
      ];
    }
    case "opaque":
      return opaqueOf(part, index);
    case "image":
      return [];
    default:
      return part satisfies never;
  }
}

function opaqueOf(
  opaque: Pick<Extract<AssistantPart, { type: "opaque" }>, "vendor" | "data"> | undefined,
  index: number,
): readonly ModelChunk[] {
  return opaque ? [{ type: "opaque", index, vendor: opaque.vendor, data: opaque.data }] : [];
}
