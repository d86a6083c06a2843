import { afterAll, beforeAll, expect, it, type MockInstance, vi } from "vitest";
import { type CutClientKind, cutClients } from "./cut-clients.ts";
import { type GatedNode, gatedNode, halves } from "./gated-node.ts";

const answer = halves.join("");
/** A prime, so that cuts hit different places of equal frames. */
const bytesApart = 37;
/** Questions that are asked at once. */
const togetherMax = 12;

interface Cut {
  readonly fetch: typeof fetch;
  readonly isCut: Promise<void>;
  /** What came of the stream before the cut. */
  readonly text: () => string;
}

/** A fetch whose first event stream ends after so many bytes. `onHalf`: called when the first half of the answer has come. */
function cutting(bytesMax: number, onHalf: () => void): Cut {
  const end = Promise.withResolvers<void>();
  let isUsed = false;
  let bytes = 0;
  let text = "";
  const decoder = new TextDecoder();
  const fetchOf: typeof fetch = async (input, init) => {
    const given = await fetch(input, init);
    if (isUsed || !given.headers.get("content-type")?.startsWith("text/event-stream")) return given;
    isUsed = true;
    const reader = given.body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const read = bytes < bytesMax ? await reader?.read() : undefined;
        if (read?.value) {
          const some = read.value.subarray(0, bytesMax - bytes);
          bytes += some.length;
          text += decoder.decode(some, { stream: true });
          controller.enqueue(some);
          if (halfOf(text) !== undefined) onHalf();
          return;
        }
        await reader?.cancel();
        // AG-UI's SDK leaves a rejection unhandled where a body breaks.
        controller.close();
        end.resolve();
      },
    });
    return new Response(body, given);
  };
  return { fetch: fetchOf, isCut: end.promise, text: () => text };
}

/** Where the frame ends that has the first half of the answer. */
function halfOf(sent: string): number | undefined {
  const at = sent.indexOf(halves[0]);
  const end = at < 0 ? -1 : sent.indexOf("\n\n", at);
  return end < 0 ? undefined : end + 2;
}

/** Where a stream is cut: around its borders and at some bytes between them, or at every byte. */
function cutsOf(sent: string): ReadonlySet<number> {
  const length = Buffer.byteLength(sent);
  const every = Array.from({ length: length + 1 }, (_, at) => at);
  if (process.env["LOOPWRIGHT_FAULTS"] === "all") return new Set(every);
  const borders = [...sent.matchAll(/\n\n/g)].map(({ index }) => Buffer.byteLength(sent.slice(0, index + 2)));
  const around = [0, ...borders].flatMap((border) => [border - 1, border, border + 1]).filter((at) => at >= 0 && at <= length);
  return new Set([...around, ...every.filter((at) => at % bytesApart === 0)]);
}

let node: GatedNode;
let printed: MockInstance;
beforeAll(async () => {
  // Some SDKs print the frame that was cut.
  printed = vi.spyOn(console, "error").mockReturnValue(undefined);
  node = await gatedNode();
});
afterAll(async () => {
  printed.mockRestore();
  await node.close();
});

/** The model gives the second half when the client has the first one, or comes back after its connection was cut before that. */
async function askAndComeBack(kind: CutClientKind, question: string, bytesMax: number) {
  const { release, url } = node;
  const cut = cutting(bytesMax, () => release(question));
  const client = await kind({ url, question, fetch: cut.fetch });
  await client.ask(cut.isCut);
  const text = client.resume();
  release(question);
  return { sent: cut.text(), text: await text };
}

it.each(Object.entries(cutClients))(
  "%s: a stream that is cut at any byte, and resumed by the means of the protocol, loses and doubles nothing",
  async (name, kind) => {
    const titled = (at: number): string => `${name.replaceAll(" ", "-")}-${String(at).padStart(5, "0")}`;
    const { sent, text: whole } = await askAndComeBack(kind, titled(99_999), Number.POSITIVE_INFINITY);
    expect(whole).toBe(answer);
    expect(halfOf(sent)).toBeLessThan(sent.length);
    const left = [...cutsOf(sent)];
    const work = async (): Promise<void> => {
      for (let at = left.shift(); at !== undefined; at = left.shift()) {
        const question = titled(at);
        const { text } = await askAndComeBack(kind, question, at);
        expect(text, `cut after ${at} of ${Buffer.byteLength(sent)} bytes`).toBe(answer);
        expect(node.callsOf(question), `runs after a cut at ${at} bytes`).toBe(1);
      }
    };
    await Promise.all(Array.from({ length: togetherMax }, work));
  },
);
