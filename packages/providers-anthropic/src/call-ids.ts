import type { ToolCallPart, ToolResultMessage } from "@loopwright/core";

/** Gives calls and results the ids of the wire, over one request. */
export interface CallIds {
  /** Begins the calls of another assistant message: results that follow belong to these. */
  beginTurn(): void;
  /** `wish` where it is free, else an id made of the call key. */
  ofCall(part: ToolCallPart, wish: string): string;
  ofResult(message: ToolResultMessage): string | undefined;
}

/**
 * Ids that are unique in the whole request, which vendors' own are not always. The first call with an id keeps it, so that the part of the
 * request that was sent before stays the same and the prompt cache keeps its entry.
 */
export function createCallIds(): CallIds {
  const used = new Set<string>();
  let turn = new Map<string, string>();
  return {
    beginTurn: () => {
      turn = new Map();
    },
    ofCall: (part, wish) => {
      let id = wish;
      if (used.has(id)) {
        const spare = cleanId(part.callKey).slice(-56);
        id = spare;
        for (let n = 2; used.has(id); n++) id = `${spare}_${n}`;
      }
      used.add(id);
      turn.set(part.id, id).set(part.callKey, id);
      return id;
    },
    ofResult: (message) => (message.callKey ? turn.get(message.callKey) : undefined) ?? turn.get(message.toolCallId),
  };
}

/** The id in the vendor's alphabet: `^[a-zA-Z0-9_-]+$`, at most 64 characters. */
export function cleanId(id: string): string {
  return clean(id, 64) || "call";
}

/** The name as the vendor takes it, `^[a-zA-Z0-9_-]{1,128}$`: another vendor's model may have called what no tool is called. */
export function cleanName(name: string): string {
  return clean(name, 128) || "unknown";
}

function clean(text: string, charsMax: number): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, charsMax);
}
