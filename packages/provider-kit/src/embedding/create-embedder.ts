import { AgentError, addUsage, type Usage } from "@loopwright/core";
import type { Embedder } from "@loopwright/core/ports";
import { wholeCalls } from "../provider/whole-call.ts";
import type { EmbeddingAnswer, EmbeddingVendor } from "./embedding-vendor.ts";

/**
 * An embedder made of a vendor's pure parts. It owns what is the same for all: the first call connects, a failed connection is tried again with the
 * next call; texts are sent in requests within the vendor's limits, one after the other; an abort closes the connection; an answer with the
 * status of an error and trouble of the network become AgentErrors; an answer with other vectors than were asked for is refused; bodies have bounds.
 */
export function createEmbedder(vendor: EmbeddingVendor): Embedder {
  const send = wholeCalls(vendor);
  let length: number | undefined;
  return {
    get name() {
      return vendor.name;
    },
    get model() {
      return vendor.model;
    },
    async embed({ texts, purpose }, io) {
      io.signal.throwIfAborted();
      refuseBlank(texts);
      const vectors: (readonly number[])[] = [];
      let usage: Usage | undefined;
      for (const batch of batchesOf(texts, vendor)) {
        const body = vendor.bodyOf({ texts: batch, purpose });
        const answer = await send({ body, io, answerOf: (whole) => vendor.answerOf(whole) });
        for (const vector of soundVectors(answer, { count: batch.length, length, label: vendor.label })) {
          length = vector.length;
          vectors.push(vector);
        }
        usage = addUsage(usage, answer.usage);
      }
      return { vectors, ...(usage ? { usage } : {}) };
    },
  };
}

function refuseBlank(texts: readonly string[]): void {
  const at = texts.findIndex((text) => text.trim() === "");
  if (at < 0) return;
  throw new AgentError("INPUT_INVALID", {
    message: `The text at position ${at} is blank, so it has no vector.`,
    fix: "Leave blank texts out.",
  });
}

/** The texts in their order, in pieces that a request may hold. */
function* batchesOf(texts: readonly string[], { textsMax, bytesMax }: EmbeddingVendor): Generator<readonly string[]> {
  const encoder = new TextEncoder();
  let batch: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = encoder.encode(text).length;
    if (batch.length > 0 && (batch.length === textsMax || bytes + size > bytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

interface Expected {
  readonly count: number;
  /** Of the vectors of earlier answers. */
  readonly length: number | undefined;
  readonly label: string;
}

/** @throws AgentError MODEL_PROTOCOL for another count of vectors, for vectors of several lengths and for what is no number */
function soundVectors({ vectors }: EmbeddingAnswer, { count, length, label }: Expected): readonly (readonly number[])[] {
  if (vectors.length !== count) throw noVectors(label, `${vectors.length} vectors for ${count} texts`);
  let expected = length;
  for (const vector of vectors) {
    if (!Array.isArray(vector) || vector.length === 0 || !vector.every((each) => Number.isFinite(each)))
      throw noVectors(label, "a vector that is no list of numbers");
    expected ??= vector.length;
    if (vector.length !== expected) throw noVectors(label, `a vector of ${vector.length} numbers beside one of ${expected}`);
  }
  return vectors as readonly (readonly number[])[];
}

function noVectors(label: string, what: string): AgentError {
  return new AgentError("MODEL_PROTOCOL", { message: `${label} answered with ${what}.` });
}
