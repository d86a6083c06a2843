import { type CallGuard, createAgent, createSession, execute, type Fact, type FactOf } from "@loopwright/core";
import { manualClock, memoryStore, seededIds } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { collectAnswer } from "@loopwright/testing";
import { breath, breathEvery } from "./breath.ts";
import { type PlayedEnd, playedFetch } from "./played-fetch.ts";
import type { Recording } from "./recording.ts";
import { type RecordingSuiteOptions, requestFor } from "./recording-suite.ts";

export interface CutOptions extends Pick<RecordingSuiteOptions, "make" | "request"> {
  readonly recordings: readonly Recording[];
  /** Cuts per stream and way to end, evenly from its first byte to its last. Default: at every byte. */
  readonly cutsMax?: number;
}

/** What was cut, and what became of it. */
export interface CutReport {
  readonly streams: number;
  /** Of all streams together. */
  readonly bytes: number;
  /** Runs with a first attempt that was cut off: in the middle of the connection, and with a clean end. */
  readonly cuts: number;
  /** Of these, runs whose first attempt was thrown away and made again. */
  readonly madeAgain: number;
  /** Sentences; empty when every run committed the whole message, once. */
  readonly flaws: readonly string[];
}

/**
 * Plays every stream through the real adapter and the real runtime, cut at every byte, once broken off and once ended cleanly. A run must commit
 * the whole message and nothing else, and a cut stream must lead to a second attempt. A recording with content after its finish reason is not ended
 * cleanly, because a clean end after that reason looks complete.
 */
export async function cutEverywhere(options: CutOptions): Promise<CutReport> {
  const flaws: string[] = [];
  let bytes = 0;
  let cuts = 0;
  let madeAgain = 0;
  for (const recording of options.recordings) {
    const body = new TextEncoder().encode(recording.response.body);
    const played = await playedOf(options, recording, body);
    bytes += body.length;
    const ends: readonly PlayedEnd[] = recording.tags.includes("content-after-finish") ? ["error"] : ["error", "whole"];
    const step = Math.max(1, Math.floor(body.length / (options.cutsMax ?? body.length)));
    for (let at = 0; at < body.length; at += step) {
      for (const end of ends) {
        if (++cuts % breathEvery === 0) await breath();
        const run = await played(playedFetch(recording, at === 0 ? [] : [body.subarray(0, at)], end));
        if (run.failed.length > 0) madeAgain++;
        if (run.flaw !== undefined) flaws.push(`${recording.id}, ${end === "error" ? "cut" : "ended"} at byte ${at}: ${run.flaw}`);
      }
    }
  }
  return { streams: options.recordings.length, bytes, cuts, madeAgain, flaws };
}

interface PlayedRun {
  readonly failed: readonly FactOf<"model.failed">[];
  readonly flaw?: string;
}

/** Plays runs of one recording, whose second attempts are whole. */
async function playedOf(
  options: CutOptions,
  recording: Recording,
  body: Uint8Array,
): Promise<(fetch: typeof globalThis.fetch) => Promise<PlayedRun>> {
  const made = (fetch: typeof globalThis.fetch): ModelProvider => options.make("http://127.0.0.1:9", recording, fetch);
  const whole = made(playedFetch(recording, [body]));
  const { batches } = await collectAnswer(whole, requestFor(options, recording));
  const again: ModelProvider["stream"] = async function* () {
    yield* batches;
  };
  const wanted = committed(await factsOf({ ...part(whole), stream: again }, recording)).map(shown)[0];
  return async (fetch) => {
    const cut = made(fetch);
    const stream: ModelProvider["stream"] = (request, io) => (io.attempt === 1 ? cut : { stream: again }).stream(request, io);
    const facts = await factsOf({ ...part(cut), stream }, recording);
    const failed = facts.filter((fact) => fact.type === "model.failed");
    const flaw = flawOf({ failed, finished: committed(facts), wanted });
    return { failed, ...(flaw === undefined ? {} : { flaw }) };
  };
}

const part = (provider: ModelProvider): Omit<ModelProvider, "stream"> => ({
  name: provider.name,
  defaultModel: provider.defaultModel,
  capabilities: (model) => provider.capabilities(model),
});

/** Retries come at once: what is asked here is not when. */
const atOnce: CallGuard = {
  admit: () => ({ call: { answered: () => {}, left: () => {}, judge: (failure) => failure } }),
  waitMs: () => 0,
};

/** One run of one turn. */
async function factsOf(provider: ModelProvider, { model }: Recording): Promise<readonly Fact[]> {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const hooks = [{ name: "stop", decide: () => ({ action: "stop" }) as const }];
  const agent = createAgent({ name: "cut", provider, model, hooks, limits: { attemptsMax: 2 } });
  const session = createSession({ agent, id: "s", store, clock, ids: seededIds(1), callGuard: atOnce });
  await execute(session, "Hello.").result();
  await session[Symbol.asyncDispose]();
  return store.log.read({ scope: "local", session: "s" });
}

const committed = (facts: readonly Fact[]): readonly FactOf<"model.finished">[] => facts.filter((fact) => fact.type === "model.finished");

const shown = ({ message: { content, stopReason, stopReasonRaw } }: FactOf<"model.finished">): string =>
  JSON.stringify([content, stopReason, stopReasonRaw]);

const brokenCodes: ReadonlySet<string> = new Set(["MODEL_STREAM_BROKEN", "MODEL_UNREACHABLE", "MODEL_PROTOCOL"]);

function flawOf({
  failed,
  finished,
  wanted,
}: {
  readonly failed: readonly FactOf<"model.failed">[];
  readonly finished: readonly FactOf<"model.finished">[];
  readonly wanted: string | undefined;
}): string | undefined {
  const [last] = finished;
  if (!last || finished.length > 1) return `${finished.length} messages were committed`;
  if (failed.length > 1) return `${failed.length} attempts were thrown away`;
  if (last.attempt !== failed.length + 1) return `the message is of attempt ${last.attempt}, after ${failed.length} that failed`;
  const wrong = failed.find(({ failure }) => !brokenCodes.has(failure.code) || !failure.retryable);
  if (wrong) return `the cut was taken for ${wrong.failure.code}: ${wrong.failure.message}`;
  return shown(last) === wanted ? undefined : `half a message was committed: ${shown(last).slice(0, 200)}`;
}
