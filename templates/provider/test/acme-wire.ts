import type { VendorWire, WireFrame } from "@loopwright/provider-kit/testing";
import type { WireAnswer } from "@loopwright/testing";

interface Written {
  readonly event: Readonly<Record<string, unknown>>;
  readonly carries?: WireFrame["carries"];
}

const reasons = { stop: "stop", length: "length", tool_calls: "tools", refusal: "refused" } as const;

/** What Acme's servers give for an answer; written from its documentation, not from our adapter. */
function wordsFor({ thinking, text = [], calls = [], interleaved, usage, stop }: WireAnswer): readonly Written[] {
  const thoughts = (thinking?.pieces ?? []).map((piece): Written => ({ event: { type: "thought", text: piece } }));
  const seal: Written[] = thinking?.signature === undefined ? [] : [{ event: { type: "thought", text: "", seal: thinking.signature } }];
  const starts = calls.map(({ id, name }, n): Written => ({ event: { type: "call", n, id, name } }));
  const pieces = calls.map(({ args }, n) => args.map((json): Written => ({ event: { type: "arguments", n, json }, carries: "arguments" })));
  const longest = Math.max(0, ...pieces.map(({ length }) => length));
  const woven = Array.from({ length: longest }, (_, at) => pieces.flatMap((each) => each[at] ?? [])).flat();
  return [
    ...thoughts,
    ...seal,
    ...text.map((piece): Written => ({ event: { type: "text", text: piece }, carries: "text" })),
    ...(interleaved ? [...starts, ...woven] : starts.flatMap((start, n) => [start, ...(pieces[n] ?? [])])),
    ...(usage ? [{ event: usageOf(usage) }] : []),
    { event: { type: "done", reason: reasons[stop] }, carries: "end" },
  ];
}

function usageOf({ input, cacheRead, output }: NonNullable<WireAnswer["usage"]>): Written["event"] {
  return { type: "usage", read: input + (cacheRead ?? 0), ...(cacheRead === undefined ? {} : { cached: cacheRead }), written: output };
}

const frame = (event: Written["event"]): string => `data: ${JSON.stringify(event)}\n\n`;

/** Acme's protocol, for the provider kit. */
export const acmeWire: VendorWire = {
  contentType: "text/event-stream",
  frames: (answer) => wordsFor(answer).map(({ event, carries }) => ({ text: frame(event), ...(carries ? { carries } : {}) })),
  whole: (answer) => ({ events: wordsFor(answer).map(({ event }) => event) }),
  failure: ({ status, message, overflow, waitMs }) =>
    overflow
      ? { status: 400, body: { error: { type: "context_length_exceeded", message } } }
      : { status, body: { error: { message, ...(waitMs === undefined ? {} : { retry_ms: waitMs }) } } },
  errorFrame: (message) => frame({ type: "error", kind: "overloaded", message }),
};
