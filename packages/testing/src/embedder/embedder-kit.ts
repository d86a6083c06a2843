import type { ErrorCode, Usage } from "@loopwright/core";
import { isAgentError } from "@loopwright/core";
import type { Embedder, Embeddings, EmbedRequest } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase, StoreKit } from "../kit/store-case.ts";
import { expectCode, expectSoon } from "../kit/store-expectation.ts";

/** What becomes of a request of an embedder under test in place of a good answer. */
export type EmbedderFate =
  /** The vendor limits the rate. */
  | "rate limited"
  /** The vendor refuses the key. */
  | "key refused"
  /** No answer until the client goes away. */
  | "silence"
  /** A text that is not JSON. */
  | "no JSON"
  /** JSON without vectors. */
  | "no vectors"
  /** One vector fewer than texts. */
  | "too few"
  /** The last vector is shorter than the others. */
  | "uneven"
  /** A good answer that reports no usage. */
  | "no usage";

/** An embedder and the vendor that answers it. The vendor gives a text the same vector each time. */
export interface EmbedderUnderTest {
  readonly embedder: Embedder;
  /** Most texts that the embedder may send in one request. */
  readonly textsMax: number;
  /** How many texts each request had that reached the vendor, oldest first. */
  readonly requests: () => readonly number[];
  /** How many tokens the vendor counted in all its answers. */
  readonly tokens: () => number;
  /** Decides what becomes of the next request. */
  readonly next: (fate: EmbedderFate) => void;
  /** How many requests the client left before they were answered. */
  readonly hangUps: () => number;
  /** What no error may show; absent for an embedder without a key. */
  readonly secret?: string;
  /** How long a request may take to arrive and to be closed, in milliseconds. Default 5,000. */
  readonly patienceMs?: number;
}

const defaultPatienceMs = 5_000;
const calm = (): AbortSignal => new AbortController().signal;
const words = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `Text ${at} is about ${["rivers", "bridges", "boats", "bread"][at % 4]} and ${at * 7}.`);

const embed = (
  { embedder }: EmbedderUnderTest,
  texts: readonly string[],
  { purpose = "passage", signal = calm() }: { purpose?: EmbedRequest["purpose"]; signal?: AbortSignal } = {},
): Promise<Embeddings> => embedder.embed({ texts, purpose }, { signal });

function expectNear(one: readonly number[] | undefined, other: readonly number[] | undefined, what: string): void {
  const isNear = one !== undefined && one.length === other?.length && one.every((each, at) => Math.abs(each - (other[at] ?? 0)) < 1e-4);
  expectThat(isNear, `${what} has another vector.`);
}

async function expectError(under: EmbedderUnderTest, fate: EmbedderFate, code: ErrorCode): Promise<void> {
  const text = "a text that stands in no error";
  under.next(fate);
  const before = under.requests().length;
  const error = await embed(under, [text, "another"]).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expectThat(isAgentError(error, code), `After "${fate}" it was ${isAgentError(error) ? error.code : String(error)} and not ${code}.`);
  const shown = JSON.stringify([error.message, error.fix, error.details]);
  expectThat(!shown.includes(text), `After "${fate}" the error shows the text.`);
  expectThat(under.secret === undefined || !shown.includes(under.secret), `After "${fate}" the error shows the key.`);
  expectSame(under.requests().length - before, 1, `requests after "${fate}"`);
}

const answerCases: readonly StoreCase<EmbedderUnderTest>[] = [
  {
    id: "length",
    promise: "every vector is a list of finite numbers, and all have one length, also over several calls",
    async run(make) {
      const under = await make();
      const { vectors } = await embed(under, words(3));
      const { vectors: more } = await embed(under, ["A much longer text, with many more words than the others have."], {
        purpose: "query",
      });
      const lengths = new Set([...vectors, ...more].map(({ length }) => length));
      expectThat(lengths.size === 1 && !lengths.has(0), `The lengths were ${[...lengths].join(", ")}.`);
      expectThat([...vectors, ...more].flat().every(Number.isFinite), "A vector holds what is no finite number.");
    },
  },
  {
    id: "order",
    promise: "vector and text stand at the same position, over several requests, too",
    async run(make) {
      const under = await make();
      const texts = words(under.textsMax + 3);
      const { vectors } = await embed(under, texts);
      expectSame(vectors.length, texts.length, "the number of vectors");
      for (const at of [0, 1, under.textsMax - 1, under.textsMax, under.textsMax + 2]) {
        const { vectors: alone } = await embed(under, [texts[at] ?? ""]);
        expectNear(vectors[at], alone[0], `The text at position ${at}`);
      }
    },
  },
  {
    id: "batches",
    promise: "texts are sent once each, in requests of no more than the vendor takes",
    async run(make) {
      const under = await make();
      await embed(under, words(2 * under.textsMax + 1));
      const sent = under.requests();
      expectThat(Math.max(...sent) <= under.textsMax, `A request had ${Math.max(...sent)} texts, at most ${under.textsMax}.`);
      expectSame(
        sent.reduce((sum, count) => sum + count, 0),
        2 * under.textsMax + 1,
        "texts sent",
      );
    },
  },
  {
    id: "empty",
    promise: "no text gives no vectors, without a request",
    async run(make) {
      const under = await make();
      expectSame((await embed(under, [])).vectors, [], "the vectors");
      expectSame(under.requests(), [], "the requests");
    },
  },
  {
    id: "blank",
    promise: "a blank text is INPUT_INVALID, before anything is sent",
    async run(make) {
      const under = await make();
      for (const blank of ["", " \n"]) await expectCode("INPUT_INVALID", embed(under, ["a text", blank]));
      expectSame(under.requests(), [], "the requests");
    },
  },
  {
    id: "usage",
    promise: "usage is the vendor's count over all requests, and absent where the vendor reports none",
    async run(make) {
      const under = await make();
      const { usage }: { usage?: Usage } = await embed(under, words(under.textsMax + 1));
      expectSame(usage?.input, under.tokens(), "the tokens");
      expectThat(under.tokens() > 0, "The vendor counted nothing, so nothing was shown.");
      under.next("no usage");
      expectSame((await embed(under, words(2))).usage, undefined, "the usage of an answer without one");
    },
  },
];

const failureCases: readonly StoreCase<EmbedderUnderTest>[] = [
  {
    id: "aborted",
    promise: "an aborted signal sends nothing and throws the signal's reason",
    async run(make) {
      const under = await make();
      const reason = new Error("not wanted any more");
      const seen = await embed(under, words(2), { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
      expectThat(seen === reason, `It gave ${String(seen)}.`);
      expectSame(under.requests(), [], "the requests");
    },
  },
  {
    id: "abort",
    promise: "an abort closes the request and throws the signal's reason, and the next call succeeds",
    async run(make) {
      const under = await make();
      const reason = new Error("not wanted any more");
      const controller = new AbortController();
      const withinMs = under.patienceMs ?? defaultPatienceMs;
      under.next("silence");
      const call = embed(under, words(2), { signal: controller.signal }).catch((error: unknown) => error);
      await expectSoon(() => under.requests().length === 1, { what: "the request arrives", withinMs });
      controller.abort(reason);
      expectThat((await call) === reason, "It did not throw the signal's reason.");
      await expectSoon(() => under.hangUps() === 1, { what: "the request is closed", withinMs });
      expectSame((await embed(under, words(2))).vectors.length, 2, "vectors after the abort");
    },
  },
  {
    id: "errors",
    promise: "a refusal of the vendor is a typed error without text and key, after one request",
    async run(make) {
      const under = await make();
      await expectError(under, "rate limited", "MODEL_RATE_LIMITED");
      await expectError(under, "key refused", "MODEL_AUTH");
    },
  },
  {
    id: "protocol",
    promise: "an answer that has not one sound vector for each text is MODEL_PROTOCOL",
    async run(make) {
      const under = await make();
      for (const fate of ["no JSON", "no vectors", "too few", "uneven"] as const) await expectError(under, fate, "MODEL_PROTOCOL");
    },
  },
];

/** The promises of `Embedder`. */
export const embedderKit: StoreKit<EmbedderUnderTest> = [...answerCases, ...failureCases];
