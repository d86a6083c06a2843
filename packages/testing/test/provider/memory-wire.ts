import type { JsonObject } from "@loopwright/core";
import { type WireAnswer, type WireRequest, type WireScript, wireErrorText } from "../../src/provider/wire.ts";

/** An event of the made-up protocol of this wire: one JSON object per line. */
interface WireEvent {
  readonly json: JsonObject;
  readonly carries?: "text" | "arguments" | "end";
}

/** What a request is answered with. */
export interface MemoryResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array>;
  /** What stands behind the body. */
  readonly trailers: Readonly<Record<string, string>>;
}

/** A wire without a network: plays a script in memory. */
export interface MemoryWire {
  readonly requests: readonly WireRequest[];
  /** Where a redirect leads; `requests` are those that were sent there. */
  readonly elsewhere: { readonly origin: string; readonly requests: WireRequest[] };
  readonly eventsBeforeEnd: number;
  readonly isSilent: () => boolean;
  readonly hangUps: () => number;
  readonly release: () => void;
  /** Rejects with the signal's reason when it is aborted before the headers, and with a TypeError when the connection dies. */
  readonly send: (request: WireRequest, signal: AbortSignal) => Promise<MemoryResponse>;
}

/** The events of an answer in the wire's own words, the one that completes it last. */
function eventsOf(answer: WireAnswer): readonly WireEvent[] {
  const events: WireEvent[] = [];
  for (const thinking of answer.thinking?.pieces ?? []) events.push({ json: { thinking } });
  if (answer.thinking?.signature !== undefined) events.push({ json: { signature: answer.thinking.signature } });
  for (const text of answer.text ?? []) events.push({ json: { text }, carries: "text" });
  events.push(...callEvents(answer));
  if (answer.usage) events.push({ json: { usage: { ...answer.usage } } });
  return [...events, { json: { stop: answer.stop }, carries: "end" }];
}

function callEvents({ calls = [], interleaved }: WireAnswer): readonly WireEvent[] {
  const starts = calls.map(({ id, name }, call): WireEvent => ({ json: { call, id, name } }));
  const pieces = calls.map(({ args }, call) => args.map((delta): WireEvent => ({ json: { call, args: delta }, carries: "arguments" })));
  const ends = calls.map((_, call): WireEvent => ({ json: { call, done: true } }));
  if (!interleaved) return calls.flatMap((_, at) => [starts[at], pieces[at], ends[at]].flat()).filter((event) => event !== undefined);
  const longest = Math.max(0, ...pieces.map(({ length }) => length));
  const woven = Array.from({ length: longest }, (_, at) => pieces.flatMap((each) => each[at] ?? [])).flat();
  return [...starts, ...woven, ...ends];
}

interface Step {
  readonly bytes?: Uint8Array;
  readonly act?: "hold" | "cut";
}

/** What the body of a streamed answer does, step by step. */
function stepsOf(script: Extract<WireScript, { readonly type: "answer" }>): readonly Step[] {
  const encoder = new TextEncoder();
  const events = eventsOf(script.answer);
  const lines = events.map(({ json }) => `${JSON.stringify(json)}\n`);
  const joined = (texts: readonly string[]): readonly string[] => (script.chunking === "whole" ? [texts.join("")] : texts);
  const send = (texts: readonly string[]): readonly Step[] => joined(texts).map((text) => ({ bytes: encoder.encode(text) }));
  if (script.chunking === "byte") return Array.from(encoder.encode(lines.join("")), (byte) => ({ bytes: Uint8Array.of(byte) }));
  if (!script.stop) return send(lines);
  const { at, fate } = script.stop;
  const carrier = events.findIndex(({ carries }) => carries === at);
  const count = typeof at === "object" ? at.events : at === "before-end" ? events.length - 1 : carrier + 1;
  const [before, rest] = [lines.slice(0, count), lines.slice(count)];
  if (fate === "end") return send(before);
  if (fate === "error") return send([...before, `${JSON.stringify({ error: script.errorText ?? wireErrorText })}\n`]);
  if (fate === "trailer-error") return send(lines);
  if (fate === "garbage") return send([...before, '{"text": oops\n', ...rest]);
  return [...send(before), { act: fate }, ...send(rest)];
}

/** Four million characters behind a head. */
function floodOf(head: string): readonly Step[] {
  const encoder = new TextEncoder();
  const bytes = encoder.encode("x".repeat(64 * 1024));
  return [{ bytes: encoder.encode(head) }, ...Array.from({ length: 64 }, () => ({ bytes }))];
}

const elsewhereOrigin = "https://elsewhere.example";

/** A wire that plays this script at every request. */
export function memoryWire(script: WireScript, redirectKey: string): MemoryWire {
  const requests: WireRequest[] = [];
  const releases: (() => void)[] = [];
  let silent = false;
  let left = 0;

  const silence = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      releases.push(resolve);
      silent = true;
    });
  };

  const bodyOf = (steps: readonly Step[]): ReadableStream<Uint8Array> => {
    const waiting = [...steps];
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const step = waiting.shift();
          if (step === undefined) controller.close();
          else if (step.act === "cut") controller.error(new TypeError("terminated"));
          else if (step.act === "hold") await silence().then(() => this.pull?.(controller));
          else if (step.bytes) controller.enqueue(step.bytes);
        },
        cancel() {
          if (waiting.length > 0) left++;
        },
      },
      { highWaterMark: 0 },
    );
  };

  const text = (body: string): ReadableStream<Uint8Array> => bodyOf([{ bytes: new TextEncoder().encode(body) }]);

  const answer = (body: unknown): MemoryResponse => {
    const failed = script.type === "answer" && script.stop?.fate === "trailer-error";
    return { ...headAndBody(body), trailers: failed ? { "memory-error": wireErrorText } : {} };
  };

  const headAndBody = (body: unknown): Omit<MemoryResponse, "trailers"> => {
    if (script.type === "failure") {
      const { message, overflow, waitMs } = script;
      const failure = { error: message, ...(overflow ? { kind: "overflow" } : {}), ...(waitMs === undefined ? {} : { waitMs }) };
      return { status: script.status, headers: script.headers ?? {}, body: text(JSON.stringify(failure)) };
    }
    if (script.type === "redirect")
      return { status: script.status, headers: { location: `${elsewhereOrigin}/v1/chat?key=${redirectKey}` }, body: text("") };
    if (script.type === "raw") return { status: script.status, headers: { "content-type": script.contentType }, body: text(script.body) };
    if (script.type === "flood")
      return { status: script.status, headers: { "content-type": script.contentType ?? "" }, body: bodyOf(floodOf(script.head)) };
    if (script.type !== "answer") throw new TypeError("fetch failed");
    const whole = typeof body === "object" && body !== null && "stream" in body && body.stream === false;
    const json = eventsOf(script.answer).map((event) => event.json);
    return { status: 200, headers: {}, body: whole ? text(JSON.stringify(json)) : bodyOf(stepsOf(script)) };
  };

  return {
    requests,
    elsewhere: { origin: elsewhereOrigin, requests: [] },
    eventsBeforeEnd: script.type === "answer" ? eventsOf(script.answer).length - 1 : 0,
    isSilent: () => silent,
    hangUps: () => left,
    release: () => {
      for (const release of releases.splice(0)) release();
    },
    async send(request, signal) {
      requests.push(request);
      if (script.type !== "silence") return answer(request.body);
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      return Promise.race([aborted, silence().then(() => answer(undefined))]);
    },
  };
}
