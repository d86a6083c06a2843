import type { ErrorCode } from "@loopwright/core";
import { isAgentError } from "@loopwright/core";
import type { GeneratedImage, ImageGenerator } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase, StoreKit } from "../kit/store-case.ts";
import { expectCode, expectSoon } from "../kit/store-expectation.ts";

/** What becomes of a request of an image generator under test in place of a good answer. */
export type ImageFate =
  /** The vendor limits the rate. */
  | "rate limited"
  /** The vendor refuses the key. */
  | "key refused"
  /** The vendor's filter declines the prompt. */
  | "filtered"
  /** No answer until the client goes away. */
  | "silence"
  /** A text that is not JSON. */
  | "no JSON"
  /** An answer without a picture. */
  | "no picture"
  /** Bytes that are no picture. */
  | "other bytes"
  /** A good answer that reports no usage. */
  | "no usage";

/** An image generator and the vendor that answers it. The vendor draws the picture of `samplePng` for each prompt. */
export interface ImagesUnderTest {
  readonly generator: ImageGenerator;
  /** Prompts that reached the vendor, oldest first. */
  readonly prompts: () => readonly string[];
  /** How many tokens the vendor counted in all its answers, read and written. */
  readonly tokens: () => number;
  /** Decides what becomes of the next request. */
  readonly next: (fate: ImageFate) => void;
  /** How many requests the client left before they were answered. */
  readonly hangUps: () => number;
  /** What no error may show; absent for a generator without a key. */
  readonly secret?: string;
  /** How long a request may take to arrive and to be closed, in milliseconds. Default 5,000. */
  readonly patienceMs?: number;
}

const pngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/** A picture of one pixel, as a vendor of `imageGeneratorKit` makes it for every prompt. */
export const samplePng: { readonly base64: string; readonly bytes: Uint8Array<ArrayBuffer> } = {
  base64: pngBase64,
  bytes: Uint8Array.from(atob(pngBase64), (letter) => letter.charCodeAt(0)),
};

const defaultPatienceMs = 5_000;
const calm = (): AbortSignal => new AbortController().signal;
const prompt = "a lighthouse that stands in no error";
const generate = ({ generator }: ImagesUnderTest, signal: AbortSignal = calm()): Promise<GeneratedImage> =>
  generator.generate({ prompt }, { signal });

async function expectError(under: ImagesUnderTest, fate: ImageFate, code: ErrorCode): Promise<void> {
  under.next(fate);
  const before = under.prompts().length;
  const error = await generate(under).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expectThat(isAgentError(error, code), `After "${fate}" it was ${isAgentError(error) ? error.code : String(error)} and not ${code}.`);
  const shown = JSON.stringify([error.message, error.fix, error.details]);
  expectThat(!shown.includes(prompt), `After "${fate}" the error shows the prompt.`);
  expectThat(under.secret === undefined || !shown.includes(under.secret), `After "${fate}" the error shows the key.`);
  expectSame(under.prompts().length - before, 1, `requests after "${fate}"`);
}

const answerCases: readonly StoreCase<ImagesUnderTest>[] = [
  {
    id: "bytes",
    promise: "the picture is what the vendor made, byte by byte, under the media type of its bytes",
    async run(make) {
      const under = await make();
      const { bytes, mediaType } = await generate(under);
      expectSame(mediaType, "image/png", "the media type");
      expectSame([...bytes], [...samplePng.bytes], "the bytes");
    },
  },
  {
    id: "prompt",
    promise: "the prompt reaches the vendor unchanged, in one request, whatever the shape",
    async run(make) {
      const under = await make();
      for (const shape of [undefined, "square", "landscape", "portrait"] as const) {
        const before = under.prompts().length;
        const words = `A "cat"\non a ${shape ?? "free"} mat, 10 % bigger – 🐈`;
        await under.generator.generate({ prompt: words, ...(shape === undefined ? {} : { shape }) }, { signal: calm() });
        expectSame(under.prompts().slice(before), [words], "the prompts");
      }
    },
  },
  {
    id: "blank",
    promise: "a blank prompt is INPUT_INVALID, before anything is sent",
    async run(make) {
      const under = await make();
      for (const blank of ["", " \n"]) await expectCode("INPUT_INVALID", under.generator.generate({ prompt: blank }, { signal: calm() }));
      expectSame(under.prompts(), [], "the requests");
    },
  },
  {
    id: "usage",
    promise: "usage is the vendor's count, and absent where the vendor reports none",
    async run(make) {
      const under = await make();
      const { usage } = await generate(under);
      expectThat(under.tokens() > 0, "The vendor counted nothing, so nothing was shown.");
      expectSame((usage?.input ?? 0) + (usage?.output ?? 0), under.tokens(), "the tokens");
      under.next("no usage");
      expectSame((await generate(under)).usage, undefined, "the usage of an answer without one");
    },
  },
];

const failureCases: readonly StoreCase<ImagesUnderTest>[] = [
  {
    id: "aborted",
    promise: "an aborted signal sends nothing and throws the signal's reason",
    async run(make) {
      const under = await make();
      const reason = new Error("not wanted any more");
      const seen = await generate(under, AbortSignal.abort(reason)).catch((error: unknown) => error);
      expectThat(seen === reason, `It gave ${String(seen)}.`);
      expectSame(under.prompts(), [], "the requests");
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
      const call = generate(under, controller.signal).catch((error: unknown) => error);
      await expectSoon(() => under.prompts().length === 1, { what: "the request arrives", withinMs });
      controller.abort(reason);
      expectThat((await call) === reason, "It did not throw the signal's reason.");
      await expectSoon(() => under.hangUps() === 1, { what: "the request is closed", withinMs });
      expectSame((await generate(under)).mediaType, "image/png", "the picture after the abort");
    },
  },
  {
    id: "errors",
    promise: "a refusal of the vendor is a typed error without prompt and key, after one request",
    async run(make) {
      const under = await make();
      await expectError(under, "rate limited", "MODEL_RATE_LIMITED");
      await expectError(under, "key refused", "MODEL_AUTH");
      await expectError(under, "filtered", "MODEL_REFUSED");
    },
  },
  {
    id: "protocol",
    promise: "an answer without a picture is MODEL_PROTOCOL",
    async run(make) {
      const under = await make();
      for (const fate of ["no JSON", "no picture", "other bytes"] as const) await expectError(under, fate, "MODEL_PROTOCOL");
    },
  },
];

/** The promises of `ImageGenerator`. */
export const imageGeneratorKit: StoreKit<ImagesUnderTest> = [...answerCases, ...failureCases];
