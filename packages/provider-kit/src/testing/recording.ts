import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A call that the client must run, as the recording's own fold saw it. */
export interface RecordedCall {
  readonly id?: string;
  readonly name: string;
  /** Parsed; the raw text where it is no valid JSON. */
  readonly arguments?: unknown;
  readonly argumentsInvalidJson?: boolean;
  readonly custom?: boolean;
  readonly input?: string;
}

/** The content of a recorded response, folded by a script that uses no SDK and no adapter. `null`: not reported. */
export interface RecordedTruth {
  readonly text: string;
  readonly thinking: string;
  readonly toolCalls: readonly RecordedCall[];
  readonly finishReasonRaw: string | null;
  readonly usage: {
    readonly cachedInput: number | null;
    readonly cacheWrite: number | null;
    readonly reasoning: number | null;
    readonly inputTotal: number | null;
    readonly outputTotal: number | null;
  } | null;
  readonly refusal?: string;
  readonly promptBlockReason?: string;
  readonly signatures?: readonly string[];
  readonly error?: { readonly status?: number; readonly message: string; readonly midStream?: boolean };
}

/** One recorded exchange with a vendor. */
export interface Recording {
  readonly id: string;
  /** `openai-chat`, `openai-responses`, `openai-compat`, `anthropic`, `gemini` or `ollama`. */
  readonly provider: string;
  readonly vendor: string;
  readonly model: string;
  readonly tags: readonly string[];
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown };
  readonly response: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
  readonly truth: RecordedTruth;
}

/** How the replay server answers one address: `chunk`, `fault`, `stall`, `retry-after` and more; its README lists them. */
export type ReplayOptions = Readonly<Record<string, string | number>>;

/** What the replay server saw of one request. */
export interface ReplayedRequest {
  readonly id: string | null;
  readonly path: string;
  readonly body: unknown;
  readonly refused?: string;
  readonly bytesSent?: number;
  readonly clientClosedAt?: number;
}

/** The running replay server. */
export interface Replay {
  readonly origin: string;
  readonly requests: readonly ReplayedRequest[];
  /** The base URL at which a vendor's SDK finds one recording. */
  baseUrl(recording: Recording, options?: ReplayOptions): string;
  close(): Promise<void>;
}

/** Where the recordings and the replay server are, or why they are not used. */
export type RecordingsPlace =
  | { readonly available: true; readonly recordings: string; readonly replay: string }
  | { readonly available: false; readonly reason: string };

/** Reads LOOPWRIGHT_RECORDINGS (folder with index.json) and LOOPWRIGHT_REPLAY (folder with server.mjs). */
export function findRecordings(environment: Readonly<Record<string, string | undefined>> = process.env): RecordingsPlace {
  const recordings = environment["LOOPWRIGHT_RECORDINGS"];
  const replay = environment["LOOPWRIGHT_REPLAY"];
  if (!recordings) return { available: false, reason: "LOOPWRIGHT_RECORDINGS is not set" };
  if (!replay) return { available: false, reason: "LOOPWRIGHT_REPLAY is not set" };
  return { available: true, recordings, replay };
}

/** Loads the recordings of some providers, in the order of the index. */
export function loadRecordings(folder: string, providers: readonly string[]): readonly Recording[] {
  const index = readJson(join(folder, "index.json")) as {
    readonly recordings: readonly { readonly provider: string; readonly file: string }[];
  };
  return index.recordings
    .filter((entry) => providers.includes(entry.provider))
    .map((entry) => readJson(join(folder, entry.file)) as Recording);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Starts the replay server in this process, on a free port of the loopback interface. */
export async function startReplay(place: { readonly recordings: string; readonly replay: string }): Promise<Replay> {
  const module = (await import(pathToFileURL(join(place.replay, "server.mjs")).href)) as {
    readonly startReplay: (options: { readonly dirs: readonly string[] }) => Promise<Replay>;
  };
  return module.startReplay({ dirs: [place.recordings] });
}

/** True when the recorded answer was streamed. */
export function isStreamed(recording: Recording): boolean {
  return recording.tags.includes("stream");
}
