import { seededRandom } from "@loopwright/core/memory";
import { collectAnswer, differenceOf } from "@loopwright/testing";
import { breath, breathEvery } from "./breath.ts";
import { playedFetch } from "./played-fetch.ts";
import type { Recording } from "./recording.ts";
import { type RecordingSuiteOptions, requestFor } from "./recording-suite.ts";

export interface RechunkOptions extends Pick<RecordingSuiteOptions, "make" | "request"> {
  readonly recordings: readonly Recording[];
  /** How many answers are read, in turns of the recordings and the forms. */
  readonly rounds: number;
  /** The same for the same seed. Default 1. */
  readonly seed?: number;
}

export interface RechunkReport {
  readonly streams: number;
  readonly rounds: number;
  /** How often each form of the bytes was read. */
  readonly forms: Readonly<Record<string, number>>;
  /** Sentences; empty when every answer was the one of the unbroken body. */
  readonly flaws: readonly string[];
}

/** Other encodings of the same events, as the formats allow them. */
interface Form {
  readonly name: string;
  readonly of: (body: string) => string;
}

const megabyte = 1_000_000;
const plain: Form = { name: "as it came", of: (body) => body };
const crlf: Form = { name: "CRLF", of: (body) => body.replaceAll("\n", "\r\n") };
const eventForms: readonly Form[] = [
  plain,
  crlf,
  { name: "CR", of: (body) => body.replaceAll("\n", "\r") },
  { name: "a byte order mark", of: (body) => `\uFEFF${body}` },
  { name: "comments", of: (body) => body.replaceAll("\n\n", "\n\n: ping\n\n:\n") },
  { name: "other fields", of: (body) => body.replaceAll("\n\n", "\nid: 7\nretry: 9\nunknown: x\n\n") },
  { name: "a line of a million characters", of: (body) => `: ${"x".repeat(megabyte)}\n\n${body}` },
];
const lineForms: readonly Form[] = [plain, crlf];

/** Reads streams whose bytes are cut anywhere - by one, by chance, inside characters, escapes and line ends - and written in other forms. */
export async function rechunk(options: RechunkOptions): Promise<RechunkReport> {
  const { recordings, rounds, seed = 1 } = options;
  const random = seededRandom(seed);
  const forms: Record<string, number> = {};
  const flaws: string[] = [];
  const wholes = new Map<Recording, unknown>();
  const read = async (recording: Recording, pieces: readonly Uint8Array[]): Promise<unknown> => {
    const provider = options.make("http://127.0.0.1:9", recording, playedFetch(recording, pieces));
    const { answer } = await collectAnswer(provider, requestFor(options, recording));
    return answer;
  };
  for (let round = 0; round < rounds; round++) {
    if (round % breathEvery === 0) await breath();
    const recording = recordings[round % recordings.length] as Recording;
    const whole = wholes.get(recording) ?? (await read(recording, [bytesOf(recording.response.body)]));
    wholes.set(recording, whole);
    const known = recording.provider === "ollama" ? lineForms : eventForms;
    const form = known[Math.floor(round / recordings.length) % known.length] ?? plain;
    forms[form.name] = (forms[form.name] ?? 0) + 1;
    const pieces = cutByChance(bytesOf(form.of(recording.response.body.replaceAll("\r\n", "\n"))), random);
    const difference = await read(recording, pieces).then(
      (answer) => differenceOf(answer, whole, "the answer"),
      (error: unknown) => String(error),
    );
    if (difference !== undefined) flaws.push(`${recording.id}, ${form.name}, in ${pieces.length} pieces (round ${round}): ${difference}`);
  }
  return { streams: Math.min(rounds, recordings.length), rounds, forms, flaws };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Longest piece of each kind of cutting; a very long body is not cut into single bytes. */
const pieceBytesMax: readonly number[] = [1, 3, 40, 1_000];

function cutByChance(bytes: Uint8Array, random: () => number): readonly Uint8Array[] {
  const kinds = bytes.length > 100_000 ? pieceBytesMax.slice(-1) : pieceBytesMax;
  const most = kinds[Math.floor(random() * kinds.length)] ?? 1;
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * most);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
