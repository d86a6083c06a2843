import { isAgentError } from "@loopwright/core";
import { type CollectedAnswer, differenceOf, expectThat } from "@loopwright/testing";
import { cutEverywhere } from "./cut-everywhere.ts";
import { callWith, type FaultContext } from "./fault-call.ts";
import { failureCases } from "./fault-cases.ts";
import { pickStreams } from "./pick-streams.ts";
import { rechunk } from "./rechunk.ts";
import { isStreamed, type Recording } from "./recording.ts";
import { type RecordingSuiteOptions, withReplay } from "./recording-suite.ts";

/** How often a body is cut at places that no border explains. */
const randomCuts = 50;
/** With LOOPWRIGHT_FAULTS=few: borders of one recording that are cut, beside its last ones, and random bytes. */
const fewBorders = 12;
const fewRandomCuts = 8;
/** How many calls of one recording run at once. */
const callsAtOnceMax = 32;
/** How many borders of one recording end cleanly. */
const truncationsMax = 24;
/** Streams, cuts of each and rounds of a sample, and of a run through all. */
const sampleStreams = 6;
const sampleCuts = 12;
const sampleRounds = 42;
const streamsMax = 12;
const everyRounds = 5_000;
const everyByteTimeoutMs = 3_600_000;
/** Longest that all faults of one recording may take. */
const faultsTimeoutMs = 120_000;

/**
 * Registers the faults of the wire over recorded traffic: every successful recording is cut at every event border and at 50
 * seeded random bytes, and ends cleanly before its terminal event; a few get failing statuses, garbage, error events and
 * silence with an abort. Every call must reject with the right error, or, where the cut came after the answer was
 * complete, give the very message of the whole recording. A sample of streams is cut at many bytes inside this process too, and made again by the
 * runtime (F1), and is read in other chunkings and forms (F2). LOOPWRIGHT_FAULTS=all does so at every byte, with the counts printed;
 * LOOPWRIGHT_FAULTS=few cuts each recording at a sample of its borders. Skipped like `recordingSuite`. Exclude by id recordings whose cut the
 * vendor's protocol does not show, for example with content after a finish reason.
 */
export function faultSuite(options: RecordingSuiteOptions): void {
  withReplay(options, "faults of recorded traffic", (all, replay) => {
    const recordings = all.filter((recording) => recording.response.status < 400 && !recording.truth.error);
    const isFew = process.env["LOOPWRIGHT_FAULTS"] === "few";
    streamTests(options, recordings);
    for (const recording of recordings) {
      const title = isStreamed(recording)
        ? `F1: never takes ${recording.id} cut at ${isFew ? "some event borders and bytes" : "any event border or byte"} for the whole`
        : `F1: never takes ${recording.id} cut in the middle for the whole`;
      options.runner.it(title, () => survivesCuts({ options, recording, replay: replay() }, isFew), faultsTimeoutMs);
    }
    const few = [...recordings.filter(isStreamed).slice(0, 2), ...recordings.filter((recording) => !isStreamed(recording)).slice(0, 1)];
    const withCalls = recordings.filter((recording) => isStreamed(recording) && recording.truth.toolCalls.length > 0).slice(0, 2);
    for (const recording of [...new Set([...few.filter(isStreamed), ...withCalls])]) {
      const title = `F5: answers an error event anywhere in ${recording.id} with the vendor's error, also after whole calls, unless all was sent`;
      options.runner.it(title, () => survivesErrors({ options, recording, replay: replay() }), faultsTimeoutMs);
    }
    for (const recording of few) {
      for (const each of failureCases(recording)) {
        options.runner.it(`${each.title} (${recording.id})`, () => each.run({ options, recording, replay: replay() }), faultsTimeoutMs);
      }
    }
  });
}

/** F1 and F2 through the adapter alone, in this process: a sample, or every byte where LOOPWRIGHT_FAULTS is `all`. */
function streamTests({ runner, make, request, providers }: RecordingSuiteOptions, recordings: readonly Recording[]): void {
  const isAll = process.env["LOOPWRIGHT_FAULTS"] === "all";
  const streams = pickStreams(recordings, isAll ? streamsMax * providers.length : sampleStreams);
  const shared = { make, ...(request ? { request } : {}), recordings: streams };
  const title = `F1: ${streams.length} streams, cut at ${isAll ? "every byte" : "a sample of their bytes"}, never commit half a message: another attempt is made`;
  runner.it(
    title,
    async () => {
      const { flaws, ...counts } = await cutEverywhere({ ...shared, ...(isAll ? {} : { cutsMax: sampleCuts }) });
      if (isAll) console.info(`F1: ${JSON.stringify(counts)}`);
      expectThat(flaws.length === 0, `${flaws.length} of ${counts.cuts} cuts:\n${flaws.slice(0, 12).join("\n")}`);
      expectThat(counts.madeAgain > counts.cuts / 2, `only ${counts.madeAgain} of ${counts.cuts} attempts were made again`);
    },
    isAll ? everyByteTimeoutMs : faultsTimeoutMs,
  );
  runner.it(
    `F2: ${streams.length} streams give the same however their bytes are cut and their lines end, with comments, other fields and a byte order mark`,
    async () => {
      const { flaws, ...counts } = await rechunk({ ...shared, rounds: isAll ? everyRounds : sampleRounds });
      if (isAll) console.info(`F2: ${JSON.stringify(counts)}`);
      expectThat(flaws.length === 0, `${flaws.length} of ${counts.rounds} rounds:\n${flaws.slice(0, 12).join("\n")}`);
    },
    isAll ? everyByteTimeoutMs : faultsTimeoutMs,
  );
}

async function survivesCuts(context: FaultContext, isFew: boolean): Promise<void> {
  const { recording } = context;
  const whole = (await callWith(context, isStreamed(recording) ? { chunk: "whole" } : {})).answer;
  const flaws: string[] = [];
  const waiting = cutsOf(recording, isFew);
  const work = async (): Promise<void> => {
    for (let fault = waiting.pop(); fault !== undefined; fault = waiting.pop()) {
      const flaw = await flawOf(callWith(context, { fault, ...(isStreamed(recording) ? { chunk: "whole" } : {}) }), whole);
      if (flaw !== undefined) flaws.push(`${fault}: ${flaw}`);
    }
  };
  await Promise.all(Array.from({ length: callsAtOnceMax }, work));
  expectThat(flaws.length === 0, `${recording.id} (${flaws.length} faults not seen):\n${flaws.slice(0, 12).join("\n")}`);
}

async function survivesErrors(context: FaultContext): Promise<void> {
  const { recording } = context;
  const whole = (await callWith(context, { chunk: "whole" })).answer;
  const last = bordersOf(Buffer.from(recording.response.body, "utf8"), recording.provider === "ollama").length - 1;
  const step = Math.max(1, Math.ceil(last / truncationsMax));
  const places = Array.from({ length: last + 1 }, (_, at) => at).filter((at) => at % step === 0 || at > last - 6);
  const flaws: string[] = [];
  let rejected = 0;
  for (const at of places) {
    const outcome = await callWith(context, { fault: `error-event:${at}`, chunk: "whole" }).catch((error: unknown) => error);
    if (isAgentError(outcome)) {
      rejected++;
      if (outcome.code !== "MODEL_OVERLOADED" || !outcome.retryable) flaws.push(`after ${at} events: ${outcome.code}: ${outcome.message}`);
    } else {
      const written = (outcome as CollectedAnswer).answer;
      const difference = differenceOf([written.parts, written.ended], [whole.parts, whole.ended], "half an answer was taken for the whole");
      if (difference !== undefined) flaws.push(`after ${at} events: ${difference}`);
    }
  }
  expectThat(flaws.length === 0, `${recording.id}:\n${flaws.join("\n")}`);
  expectThat(rejected >= places.length / 2, `only ${rejected} of ${places.length} errors were seen`);
}

/** A call with a broken wire must reject as such, or be whole. Usage may come after the answer is complete, so it may be missing. */
async function flawOf(call: Promise<CollectedAnswer>, whole: CollectedAnswer["answer"]): Promise<string | undefined> {
  try {
    const { answer } = await call;
    const written = ({ parts, ended }: CollectedAnswer["answer"]): unknown => [parts, ended?.stopReason, ended?.raw];
    return differenceOf(written(answer), written(whole), "half an answer was taken for the whole");
  } catch (error) {
    if (!isAgentError(error)) return `expected an AgentError, got ${String(error)}`;
    if (!brokenCodes.has(error.code)) return `expected ${[...brokenCodes].join(" or ")}, got ${error.code}: ${error.message}`;
    return error.retryable ? undefined : `${error.code} is not called retryable`;
  }
}

const brokenCodes: ReadonlySet<string> = new Set(["MODEL_STREAM_BROKEN", "MODEL_UNREACHABLE", "MODEL_PROTOCOL"]);

/** The replay server's names of the faults, in an order that is the same at every run. */
function cutsOf(recording: Recording, isFew: boolean): string[] {
  const body = Buffer.from(recording.response.body, "utf8");
  if (!isStreamed(recording))
    return ["cut:50%", "cut:1", `cut:${body.length - 1}`, "truncate:50%", "truncate:0", `truncate:${body.length - 2}`];
  const random = randomOf(recording.id);
  const bytes = Array.from({ length: isFew ? fewRandomCuts : randomCuts }, () => Math.floor(random() * body.length));
  const borders = bordersOf(body, recording.provider === "ollama");
  const ends = [...sampleOf(borders, isFew ? fewBorders : truncationsMax), ...bytes.slice(0, 8)];
  const cuts = [...(isFew ? sampleOf(borders, fewBorders) : borders), ...bytes].map((at) => `cut:${at}`);
  // When the vendor sends more after its terminal event, a clean end directly after that event looks complete.
  return recording.tags.includes("content-after-finish") ? cuts : cuts.concat(ends.map((at) => `truncate:${at}`));
}

/** At most so many borders, evenly spread, and the last four. */
function sampleOf(borders: readonly number[], max: number): readonly number[] {
  const step = Math.max(1, Math.ceil(borders.length / max));
  return borders.filter((_, at) => at % step === 0 || at >= borders.length - 4);
}

/** Offsets just after every event, and 0. */
function bordersOf(body: Uint8Array, lines: boolean): readonly number[] {
  const borders = [0];
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== 10) continue;
    const before = body[at - 1] === 13 ? at - 2 : at - 1;
    if (lines || body[before] === 10) borders.push(at + 1);
  }
  return borders.filter((at) => at < body.length);
}

/** Numbers in [0, 1), the same for the same name. */
function randomOf(name: string): () => number {
  let state = 0;
  for (const character of name) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 4_294_967_296;
  };
}
