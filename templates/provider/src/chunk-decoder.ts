import type { ModelChunk } from "@loopwright/core";
import { type ChunkDecoder, errorFromStatus, streamBroken } from "@loopwright/provider-kit";
import { vendor, vendorName } from "./options.ts";

/** The events of Acme's stream. @see https://docs.acme.example/chat/streaming (2026-11-21) */
export type AcmeEvent =
  | { readonly type: "thought"; readonly text: string; readonly seal?: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly n: number; readonly id: string; readonly name: string }
  | { readonly type: "arguments"; readonly n: number; readonly json: string }
  | { readonly type: "usage"; readonly read: number; readonly cached?: number; readonly written: number }
  | { readonly type: "done"; readonly reason: AcmeReason }
  | { readonly type: "error"; readonly kind: string; readonly message: string };

type AcmeReason = "stop" | "length" | "tools" | "refused";

/** Acme has one block of thought, one of text, then its calls. */
const thoughtIndex = 0;
const textIndex = 1;
const callIndex = 2;

const stopReasons = { stop: "stop", length: "length", tools: "tool_calls" } as const;

/** Turns the events of one answer, in order, into chunks. */
export function createDecoder(secrets: readonly string[]): ChunkDecoder<AcmeEvent> {
  let reason: AcmeReason | undefined;
  let calls = 0;

  const take = (event: AcmeEvent, into: ModelChunk[]): void => {
    switch (event.type) {
      case "thought":
        if (event.text !== "") into.push({ type: "thinking", index: thoughtIndex, delta: event.text });
        if (event.seal !== undefined) into.push({ type: "opaque", index: thoughtIndex, vendor, data: event.seal });
        return;
      case "text":
        into.push({ type: "text", index: textIndex, delta: event.text });
        return;
      case "call":
        calls = Math.max(calls, event.n + 1);
        into.push({ type: "call-start", index: callIndex + event.n, id: event.id, name: event.name });
        return;
      case "arguments":
        into.push({ type: "call-args", index: callIndex + event.n, delta: event.json });
        return;
      case "usage": {
        // `read` includes what came from the cache.
        const { read, cached, written } = event;
        const cache = cached === undefined ? {} : { cacheRead: cached };
        into.push({ type: "usage", usage: { input: read - (cached ?? 0), ...cache, output: written } });
        return;
      }
      case "done":
        reason = event.reason;
        return;
      case "error":
        throw errorFromStatus({ provider: vendorName, type: event.kind, message: event.message, secrets });
      default:
        // An event of a later version.
        event satisfies never;
    }
  };

  return {
    take,
    // Unstreamed, Acme answers with the same events as one list.
    takeWhole: (answer: { readonly events: readonly AcmeEvent[] }, into) => {
      for (const event of answer.events) take(event, into);
    },
    finish: (into) => {
      if (reason === undefined) throw streamBroken(vendorName, "its end");
      for (let n = 0; n < calls; n++) into.push({ type: "call-end", index: callIndex + n });
      if (reason === "refused") into.push({ type: "end", stopReason: "error", raw: reason, message: "The model declined to answer." });
      else into.push({ type: "end", stopReason: calls > 0 && reason === "stop" ? "tool_calls" : stopReasons[reason], raw: reason });
    },
    get ended() {
      return reason !== undefined;
    },
  };
}
