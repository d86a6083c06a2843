import type { ModelProvider } from "@loopwright/core/ports";
import { type MakeModelProvider, type WireRequest, type WireScript, wireErrorText } from "@loopwright/testing";
import type { VendorWire, WireFrame } from "./vendor-wire.ts";
import { type WireResponse, type WireStep, wireServer } from "./wire-server.ts";

/** What makes a provider for the provider kit. */
export interface ProviderUnderTest {
  readonly wire: VendorWire;
  /** A fresh provider that talks to this base URL with this key. `origin` ends without a slash. */
  readonly make: (origin: string, key: string) => ModelProvider;
  /** A model to ask for. */
  readonly model: string;
  /** A model that takes no images. Capability `text-only`. */
  readonly modelWithoutVision?: string;
  /** A model that does not reason. Capability `unthinking`. */
  readonly modelWithoutReasoning?: string;
}

/** Half a gigabyte: more than any provider may read of one body. */
const floodPieceBytes = 256 * 1024;
const floodPieces = 2_048;

const key = "wire-KEY-4c1f-CANARY";

/**
 * The `make` of the provider kit for an adapter: a loopback server sends the vendor's bytes, the real adapter reads them.
 *
 * ```ts
 * runKit(it, modelProviderKit, { make: providerUnderTest({ wire: acmeWire, model: "acme-1", make: (baseURL, apiKey) => acme({ apiKey, baseURL }) }) });
 * ```
 */
export function providerUnderTest({ wire, make, model, modelWithoutVision, modelWithoutReasoning }: ProviderUnderTest): MakeModelProvider {
  return async (script) => {
    if (script.type === "answer" && script.stop?.fate === "trailer-error" && !wire.trailers)
      throw new Error("The vendor's wire has no `trailers`: write them, or name the lack `trailers`.");
    const elsewhere = await wireServer(() => answered(200, { "content-type": wire.contentType }, []));
    const server = await wireServer((request) => responseOf(wire, script, { request, elsewhere: elsewhere.origin }));
    const frames = script.type === "answer" ? wire.frames(script.answer) : [];
    return {
      provider: make(server.origin, key),
      model,
      ...(modelWithoutVision === undefined ? {} : { modelWithoutVision }),
      ...(modelWithoutReasoning === undefined ? {} : { modelWithoutReasoning }),
      key,
      requests: server.requests,
      elsewhere,
      eventsBeforeEnd: endOf(frames),
      isSilent: server.isSilent,
      hangUps: server.hangUps,
      release: server.release,
      close: async () => {
        await server.close();
        await elsewhere.close();
      },
    };
  };
}

/** Index of the event that completes the answer. */
function endOf(frames: readonly WireFrame[]): number {
  const end = frames.findIndex(({ carries }) => carries === "end");
  if (frames.length > 0 && end < 0) throw new Error("No frame of the vendor's wire carries `end`.");
  return Math.max(0, end);
}

function responseOf(
  wire: VendorWire,
  script: WireScript,
  { request, elsewhere }: { readonly request: WireRequest; readonly elsewhere: string },
): WireResponse {
  switch (script.type) {
    case "redirect":
      return answered(script.status, { location: `${elsewhere}/v1/elsewhere?key=${key}` }, []);
    case "drop":
    case "silence":
      return { type: script.type };
    case "raw":
      return answered(script.status, { "content-type": script.contentType }, [write(script.body)]);
    case "flood": {
      const piece = encoder.encode("x".repeat(floodPieceBytes));
      const head = { "content-type": script.contentType ?? wire.contentType };
      return answered(script.status, head, [write(script.head), { type: "flood", piece, count: floodPieces }]);
    }
    case "failure": {
      const { message, overflow = false, waitMs } = script;
      const { status, body } = wire.failure({ status: script.status, message, overflow, ...(waitMs === undefined ? {} : { waitMs }) });
      return answered(status, { "content-type": "application/json", ...script.headers }, [write(JSON.stringify(body))]);
    }
    case "answer": {
      if (wire.whole && (wire.isWhole ?? asksForWhole)(request))
        return answered(200, { "content-type": "application/json" }, [write(JSON.stringify(wire.whole(script.answer)))]);
      return answered(200, { "content-type": wire.contentType }, [...stepsOf(wire, script), ...trailersOf(wire, script)]);
    }
    default:
      return script satisfies never;
  }
}

function answered(status: number, headers: Readonly<Record<string, string>>, steps: readonly WireStep[]): WireResponse {
  return { type: "answer", status, headers, steps };
}

function asksForWhole({ body }: WireRequest): boolean {
  return typeof body !== "object" || body === null || !("stream" in body) || body.stream !== true;
}

const encoder = new TextEncoder();

function write(text: string): WireStep {
  return { type: "write", bytes: encoder.encode(text) };
}

function stepsOf(wire: VendorWire, script: Extract<WireScript, { readonly type: "answer" }>): readonly WireStep[] {
  const frames = wire.frames(script.answer);
  const texts = frames.map(({ text }) => text);
  if (script.chunking === "byte")
    return Array.from(encoder.encode(texts.join("")), (byte) => ({ type: "write", bytes: Uint8Array.of(byte) }));
  const send = (some: readonly string[]): readonly WireStep[] => (script.chunking === "whole" ? [some.join("")] : some).map(write);
  if (!script.stop) return send(texts);
  const { at, fate } = script.stop;
  const count = typeof at === "object" ? at.events : at === "before-end" ? endOf(frames) : carrierOf(frames, at) + 1;
  const [before, rest] = [texts.slice(0, count), texts.slice(count)];
  switch (fate) {
    case "end":
      return send(before);
    case "error":
      return send([...before, wire.errorFrame(script.errorText ?? wireErrorText)]);
    case "garbage":
      return send([...before, garbageOf(wire), ...rest]);
    case "trailer-error":
      return send(texts);
    case "hold":
    case "cut":
      return [...send(before), { type: fate }, ...send(rest)];
    default:
      return fate satisfies never;
  }
}

/** An answer that stops early has none. */
function trailersOf(wire: VendorWire, { answer, stop, errorText }: Extract<WireScript, { readonly type: "answer" }>): readonly WireStep[] {
  const failed = stop?.fate === "trailer-error";
  if (!wire.trailers || (stop && !failed && stop.fate !== "hold" && stop.fate !== "garbage")) return [];
  return [{ type: "trailers", trailers: wire.trailers(answer, failed ? (errorText ?? wireErrorText) : undefined) }];
}

function carrierOf(frames: readonly WireFrame[], what: "text" | "arguments"): number {
  const carrier = frames.findIndex(({ carries }) => carries === what);
  if (carrier < 0) throw new Error(`No frame of the vendor's wire carries \`${what}\`.`);
  return carrier;
}

function garbageOf(wire: VendorWire): string {
  return wire.garbageFrame ?? (wire.contentType.startsWith("text/event-stream") ? 'data: {"oops\n\n' : '{"oops\n');
}
