import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { type CollectedAnswer, chunkFlaws, collectAnswer } from "@loopwright/testing";
import { bytewiseFetch } from "./bytewise-fetch.ts";
import { findRecordings, isStreamed, loadRecordings, type Recording, type Replay, startReplay } from "./recording.ts";
import { errorDifferences, truthDifferences } from "./truth-differences.ts";

/** The functions of a test runner; those of vitest fit as they are. */
export interface SuiteRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: {
    (title: string, body: () => Promise<void>, timeoutMs?: number): unknown;
    readonly skip: (title: string, body: () => Promise<void>) => unknown;
  };
  readonly beforeAll: (body: () => Promise<void>) => unknown;
  readonly afterAll: (body: () => Promise<void>) => unknown;
}

/** What the suites over recorded traffic are given. */
export interface RecordingSuiteOptions {
  readonly runner: SuiteRunner;
  /** Whose recordings: one or more of `openai-chat`, `openai-responses`, `openai-compat`, `anthropic`, `gemini`, `ollama`. */
  readonly providers: readonly string[];
  /** A provider that talks to this base URL, with any key. Made anew for every call. `fetch`: the transport it must use, where one is given. */
  readonly make: (baseUrl: string, recording: Recording, fetch?: typeof globalThis.fetch) => ModelProvider;
  /** Recording id -> why it is rightly not ours. The reason is printed. */
  readonly exclude?: Readonly<Record<string, string>>;
  /** Fields of the request beyond the recording's model and one short user message. */
  readonly request?: (recording: Recording) => Partial<ModelRequest>;
  /** Where the recordings come from. Default: LOOPWRIGHT_RECORDINGS and LOOPWRIGHT_REPLAY. */
  readonly source?: RecordingSource;
}

/** Recordings and a server that plays them. */
export interface RecordingSource {
  readonly recordings: readonly Recording[];
  readonly start: () => Promise<Replay>;
}

/** How streamed bodies are cut on their way: at once, per event, every 13 bytes, every byte (in this process), inside characters and blank lines. */
export const chunkings: readonly string[] = ["whole", "event", "bytes:13", "byte", "midchar"];

/** Longest that one recording may take in all chunkings together. */
const recordingTimeoutMs = 120_000;

/**
 * Registers one test per recording: the provider reads it from the replay server (streamed ones in five chunkings, the
 * others with `stream: false`) and the folded message must equal the recording's truth. Skipped with a printed reason where
 * LOOPWRIGHT_RECORDINGS or LOOPWRIGHT_REPLAY is not set.
 *
 * ```ts
 * recordingSuite({ runner: { describe, it, beforeAll, afterAll }, providers: ["anthropic"], make: (baseURL, _, fetch) => anthropic({ apiKey: "test", baseURL, ...(fetch ? { fetch } : {}) }) });
 * ```
 */
export function recordingSuite(options: RecordingSuiteOptions): void {
  withReplay(options, "recorded traffic", (recordings, replay) => {
    for (const recording of recordings) {
      const ways = isStreamed(recording) ? "streamed in five chunkings" : "unstreamed";
      options.runner.it(
        `reads ${recording.id} (${ways}) as its truth states`,
        () => readsTruly(options, recording, replay()),
        recordingTimeoutMs,
      );
    }
  });
}

/** Registers a suite that has the replay server, or skips it with a printed reason. Excluded recordings are skipped with theirs. */
export function withReplay(
  { runner, providers, exclude = {}, source }: RecordingSuiteOptions,
  title: string,
  body: (recordings: readonly Recording[], replay: () => Replay) => void,
): void {
  const place: Place = source ? { available: true, source } : placeOf(providers);
  runner.describe(`${title} of ${providers.join(", ")}`, () => {
    if (!place.available) {
      console.info(`Skipped: ${title} of ${providers.join(", ")}: ${place.reason}.`);
      runner.it.skip(`is played (skipped: ${place.reason})`, () => Promise.resolve());
      return;
    }
    let running: Replay | undefined;
    runner.beforeAll(async () => {
      running = await place.source.start();
    });
    runner.afterAll(async () => running?.close());
    const { recordings } = place.source;
    const unknown = Object.keys(exclude).filter((id) => !recordings.some((recording) => recording.id === id));
    runner.it("excludes only recordings that exist", async () => {
      if (recordings.length === 0) throw new Error(`There are no recordings of ${providers.join(", ")}.`);
      if (unknown.length > 0) throw new Error(`There are no recordings ${unknown.join(", ")}.`);
    });
    for (const recording of recordings) {
      const reason = exclude[recording.id];
      if (reason !== undefined) runner.it.skip(`${recording.id} (skipped: ${reason})`, () => Promise.resolve());
    }
    body(
      recordings.filter((recording) => exclude[recording.id] === undefined),
      () => {
        if (!running) throw new Error("The replay server is not running.");
        return running;
      },
    );
  });
}

type Place = { readonly available: true; readonly source: RecordingSource } | { readonly available: false; readonly reason: string };

function placeOf(providers: readonly string[]): Place {
  const place = findRecordings();
  if (!place.available) return place;
  return { available: true, source: { recordings: loadRecordings(place.recordings, providers), start: () => startReplay(place) } };
}

/** The request with which a recording is asked for. The replay server does not compare it with the recorded one. */
export function requestFor(options: Pick<RecordingSuiteOptions, "request">, recording: Recording): ModelRequest {
  return {
    model: recording.model,
    messages: [{ role: "user", content: "Hello." }],
    ...(isStreamed(recording) ? {} : { stream: false }),
    ...options.request?.(recording),
  };
}

async function readsTruly(options: RecordingSuiteOptions, recording: Recording, replay: Replay): Promise<void> {
  const ways = isStreamed(recording) ? chunkings : ["whole"];
  const differences = await Promise.all(
    ways.map(async (chunk) => {
      const fetch = chunk === "byte" ? bytewiseFetch(recording) : undefined;
      const provider = options.make(replay.baseUrl(recording, isStreamed(recording) ? { chunk } : {}), recording, fetch);
      const found = await differencesOf(collectAnswer(provider, requestFor(options, recording)), recording);
      return found.map((difference) => `[${chunk}] ${difference}`);
    }),
  );
  const all = differences.flat();
  if (all.length > 0) throw new Error(`${recording.id} (${recording.tags.join(" ")}) differs from its truth:\n${all.join("\n")}`);
}

async function differencesOf(call: Promise<CollectedAnswer>, recording: Recording): Promise<readonly string[]> {
  try {
    const { answer, chunks } = await call;
    return [...chunkFlaws(chunks), ...truthDifferences(answer, recording)];
  } catch (error) {
    return errorDifferences(error, recording);
  }
}
