import { AgentError, type AgentErrorOptions, type ErrorCode, type JsonObject, type ModelChunk, type Usage } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";

/** An answer that is written by hand: it streams what the test gives, when the test gives it. */
export interface HandAnswer {
  readonly request: ModelRequest;
  think(delta: string): void;
  say(delta: string): void;
  call(name: string, args?: JsonObject): void;
  /** A call whose arguments are written piece by piece: the next one at each `piece`. */
  callInPieces(name: string, pieces: readonly string[]): void;
  piece(): void;
  end(usage?: Usage): void;
  fail(code: ErrorCode, options: AgentErrorOptions): void;
}

export interface HandModel {
  readonly provider: ModelProvider;
  /** The next call of the model, each once, in order. */
  next(): Promise<HandAnswer>;
}

/** A model that a test plays. Aborted calls end as those of vendors do. */
export function handModel(name = "hand", defaultModel = "hand-1"): HandModel {
  const asked = queueOf<HandAnswer>();
  const provider: ModelProvider = {
    name,
    defaultModel,
    capabilities: () => ({ streaming: true, tools: true, vision: true, promptCaching: false, contextTokens: 128_000 }),
    async *stream(request, { signal }) {
      const written = queueOf<readonly ModelChunk[] | Error>();
      const onAbort = (): void => written.put(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      asked.put(answerOf(request, written.put));
      for (;;) {
        const batch = await written.take();
        if (!Array.isArray(batch)) throw batch;
        yield batch;
        if (batch.some(({ type }) => type === "end")) return;
      }
    },
  };
  return { provider, next: asked.take };
}

function answerOf(request: ModelRequest, put: (batch: readonly ModelChunk[] | Error) => void): HandAnswer {
  let index = -1;
  let last: "thinking" | "text" | "call" | undefined;
  let callCount = 0;
  let pieces: string[] = [];
  const open = (type: "thinking" | "text" | "call"): number => {
    if (type !== last || type === "call") index += 1;
    last = type;
    return index;
  };
  return {
    request,
    think: (delta) => put([{ type: "thinking", index: open("thinking"), delta }]),
    say: (delta) => put([{ type: "text", index: open("text"), delta }]),
    call(toolName, args = {}) {
      const at = open("call");
      callCount += 1;
      put([
        { type: "call-start", index: at, id: `call_${callCount}`, name: toolName },
        { type: "call-args", index: at, delta: JSON.stringify(args) },
        { type: "call-end", index: at },
      ]);
    },
    callInPieces(toolName, texts) {
      callCount += 1;
      put([{ type: "call-start", index: open("call"), id: `call_${callCount}`, name: toolName }]);
      pieces = [...texts];
    },
    piece() {
      const [delta = ""] = pieces.splice(0, 1);
      put([{ type: "call-args", index, delta }, ...(pieces.length === 0 ? [{ type: "call-end", index } as const] : [])]);
    },
    end(usage) {
      const stopReason = callCount > 0 ? "tool_calls" : "stop";
      put([...(usage ? [{ type: "usage", usage } as const] : []), { type: "end", stopReason, raw: stopReason, model: request.model }]);
    },
    fail: (code, options) => put(new AgentError(code, options)),
  };
}

interface Queue<Item> {
  put(item: Item): void;
  take(): Promise<Item>;
}

function queueOf<Item>(): Queue<Item> {
  const items: Item[] = [];
  const takers: ((item: Item) => void)[] = [];
  return {
    put(item) {
      const taker = takers.shift();
      if (taker) taker(item);
      else items.push(item);
    },
    take: () => {
      const [first] = items.splice(0, 1);
      return first === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(first);
    },
  };
}
