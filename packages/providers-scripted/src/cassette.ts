import { AgentError, type Failure, type Json, type ModelChunk } from "@loopwright/core";
import type { ModelCapabilities } from "@loopwright/core/ports";

/** The version that `record` writes and `replay` reads. */
export const cassetteVersion = 1;

/** One recorded call. */
export interface CassetteEntry {
  readonly provider: string;
  readonly defaultModel: string;
  readonly capabilities: ModelCapabilities;
  /** Equal for requests with the same content for the model. */
  readonly digest: string;
  /** The request without secrets, for people to read; only the digest is compared. */
  readonly request: Json;
  readonly batches: readonly (readonly ModelChunk[])[];
  /** What was thrown after the batches. */
  readonly failure?: Failure;
}

/** Recorded calls as JSON data: write it with `JSON.stringify`, read it with `cassetteFrom(JSON.parse(text))`. */
export interface Cassette {
  readonly format: "loopwright-cassette";
  readonly version: number;
  /** In the order in which the calls ended. */
  readonly entries: readonly CassetteEntry[];
}

/** A cassette of these entries. */
export function cassetteOf(entries: readonly CassetteEntry[]): Cassette {
  return { format: "loopwright-cassette", version: cassetteVersion, entries: [...entries] };
}

/**
 * Outside data as a cassette, checked in its outline.
 * @throws AgentError CONFIG_INVALID when it is none, or of another version.
 */
export function cassetteFrom(value: unknown): Cassette {
  if (!isRecord(value) || value["format"] !== "loopwright-cassette" || !Array.isArray(value["entries"])) {
    throw invalid("It is not a cassette: `format` or `entries` is missing.");
  }
  if (value["version"] !== cassetteVersion) {
    throw invalid(`The cassette has version ${String(value["version"])}, and only ${cassetteVersion} is read.`);
  }
  for (const [at, entry] of value["entries"].entries()) {
    const good = isRecord(entry) && typeof entry["digest"] === "string" && typeof entry["provider"] === "string";
    if (!good || !isRecord(entry["capabilities"]) || !Array.isArray(entry["batches"]) || !entry["batches"].every(Array.isArray)) {
      throw invalid(`Entry ${at} of the cassette is not a recorded call.`);
    }
  }
  return { format: "loopwright-cassette", version: cassetteVersion, entries: value["entries"] as CassetteEntry[] };
}

function invalid(message: string): AgentError {
  return new AgentError("CONFIG_INVALID", { message, fix: "Record the calls again with `record`." });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
