import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Json, JsonObject } from "@loopwright/core";

/** One recorded call, as far as these tests read it. */
export interface Recording {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly tags: readonly string[];
  readonly request: { readonly path: string; readonly body: JsonObject | null };
  readonly response: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
  readonly truth: Truth;
}

export interface Truth {
  readonly text: string;
  readonly thinking: string;
  readonly toolCalls: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments: Json;
    readonly argumentsInvalidJson?: boolean;
  }[];
  readonly serverItems?: readonly { readonly type: string }[];
  readonly signatures?: readonly string[];
  readonly finishReasonRaw: string | null;
  readonly usage: {
    readonly inputTotal: number | null;
    readonly outputTotal: number | null;
    readonly cachedInput: number | null;
    readonly cacheWrite: number | null;
    readonly reasoning: number | null;
  } | null;
  readonly error?: { readonly status?: number; readonly message: string; readonly midStream?: boolean };
}

/** The replay server beside the recordings, as far as these tests use it. */
export interface Replay {
  chunkBody(body: Buffer, mode: string): readonly Buffer[];
  startReplay(options: { dirs: string[] }): Promise<ReplayServer>;
}

export interface ReplayServer {
  readonly recordings: ReadonlyMap<string, Recording>;
  readonly requests: readonly { readonly path: string; readonly body: JsonObject; readonly headers: Readonly<Record<string, string>> }[];
  baseUrl(recording: Recording, options?: Readonly<Record<string, string>>): string;
  reset(): void;
  close(): Promise<void>;
}

/** The folder of the recordings, where the environment names one. */
export const recordingsDirectory: string | undefined = process.env["LOOPWRIGHT_RECORDINGS"];
const replayDirectory = process.env["LOOPWRIGHT_REPLAY"];

/** True when recordings and replay server are there; else says why the suites are skipped. */
export function hasRecordings(): boolean {
  if (recordingsDirectory && replayDirectory) return true;
  console.info("Skipped: LOOPWRIGHT_RECORDINGS and LOOPWRIGHT_REPLAY do not name the recorded traffic.");
  return false;
}

export function loadRecordings(provider: string): readonly Recording[] {
  const directory = recordingsDirectory ?? "";
  const index: { recordings: { provider: string; file: string }[] } = JSON.parse(readFileSync(join(directory, "index.json"), "utf8"));
  return index.recordings
    .filter((each) => each.provider === provider)
    .map((each): Recording => JSON.parse(readFileSync(join(directory, each.file), "utf8")));
}

export async function loadReplay(): Promise<Replay> {
  return import(pathToFileURL(join(replayDirectory ?? "", "server.mjs")).href);
}

/** A transport that answers with these bytes in these pieces and keeps what was asked. */
export function cannedFetch(
  pieces: readonly Uint8Array[],
  init: { status?: number; headers?: Readonly<Record<string, string>> },
): typeof globalThis.fetch {
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const piece = pieces[at++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { status: init.status ?? 200, headers: { ...init.headers } });
  };
}
