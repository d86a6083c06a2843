/*
 * Owns: what a fact may weigh, and a part of a snapshot. A value too large goes to the blob store under its SHA-256 and leaves a reference;
 * reading puts it back, so that the loop never sees the difference.
 */
import { AgentError } from "../../errors.ts";
import { findJsonFlaw, jsonDepthMax } from "../../message/json.ts";
import { boundOf, jsonBytes, weigh } from "../../message/json-bytes.ts";
import { sha256 } from "../../message/sha256.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import { appendLimits, type SessionRef } from "../../ports/session-log.ts";
import { type Path, planSpill } from "./plan-spill.ts";

/** Where in a fact a value is missing, and the blob that has it. Beside the fact's own fields, so that no content can pass for it. */
interface Spilled {
  readonly path: Path;
  readonly key: string;
}

/** A fact as the log holds it. */
type Stored<F> = F & { readonly blobs?: readonly Spilled[] };

/** @throws AgentError INPUT_INVALID when a value nests too deeply or has a forbidden key: it would poison the log. */
export function checkPayload(value: unknown, what: string): void {
  const flaw = findJsonFlaw(value);
  if (!flaw) return;
  const problem = { too_deep: `nests deeper than ${jsonDepthMax} levels`, forbidden_key: "has a forbidden key", not_json: "is not JSON" }[
    flaw
  ];
  throw new AgentError("INPUT_INVALID", { message: `${what} ${problem}.`, fix: "Send plain JSON without such keys." });
}

/** True when the fact is small enough as it is. */
export function fitsLog(fact: object): boolean {
  return sizeIn(fact) <= appendLimits.factBytes;
}

/** True when a batch of these is small enough as it is. */
export function fitsBatch(facts: readonly object[]): boolean {
  let bytes = 0;
  for (const fact of facts) {
    const size = sizeIn(fact);
    if (size > appendLimits.factBytes) return false;
    bytes += size;
  }
  return bytes <= appendLimits.batchBytes;
}

/** The size that is compared with the limits: an upper bound where that is enough, the exact bytes otherwise. */
function sizeIn(fact: object): number {
  const weight = weigh(fact);
  if (weight > appendLimits.factBytes) return weight;
  return weight * 2 <= appendLimits.factBytes ? weight * 2 : jsonBytes(fact);
}

/** The facts of one batch as the log takes them: each within its limit, and all of them together. The same facts where nothing is too large. */
export async function spillBatch<F extends object>(facts: readonly F[], blobs: BlobStore, ref: SessionRef): Promise<readonly F[]> {
  const { factBytes, batchBytes } = appendLimits;
  const light = await spillOver(facts, { most: factBytes, blobs, ref, sizeOf: sizeIn });
  if (light.reduce((sum, fact) => sum + boundOf(fact), 0) <= batchBytes) return light;
  if (light.reduce((sum, fact) => sum + jsonBytes(fact), 0) <= batchBytes) return light;
  // From the facts as they were: what was moved out of one already may go with what is around it.
  return spillOver(facts, { most: Math.floor(batchBytes / facts.length), blobs, ref, sizeOf: jsonBytes });
}

interface SpillTarget {
  readonly blobs: BlobStore;
  /** The session that owns what is stored. */
  readonly ref: SessionRef;
  /** Bytes that a fact may have. */
  readonly most: number;
}

async function spillOver<F extends object>(
  facts: readonly F[],
  { sizeOf, ...target }: SpillTarget & { readonly sizeOf: (fact: object) => number },
): Promise<readonly F[]> {
  const over = new Set(facts.filter((fact) => sizeOf(fact) > target.most));
  if (over.size === 0) return facts;
  return Promise.all(facts.map((fact) => (over.has(fact) ? spillTo(fact, target) : fact)));
}

/** The fact with its large values in the blob store, written before the fact is. */
export function spill<F extends object>(fact: F, blobs: BlobStore, ref: SessionRef): Promise<F> {
  return spillTo(fact, { blobs, ref, most: appendLimits.factBytes });
}

async function spillTo<F extends object>(fact: F, { blobs, ref, most }: SpillTarget): Promise<F> {
  const { light, spills } = planSpill(fact, most);
  const spilled = await Promise.all(
    spills.map(async ({ path, value }): Promise<Spilled> => ({ path, key: await store(value, blobs, ref) })),
  );
  return spilled.length === 0 ? fact : { ...light, blobs: spilled };
}

async function store(value: unknown, blobs: BlobStore, { scope, session }: SessionRef): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const key = `sha256-${await sha256(bytes)}`;
  await blobs.put(scope, key, { bytes, ifAbsent: true, mediaType: "application/json", session });
  return key;
}

/** The facts with every spilled value back in its place. @throws AgentError BLOB_NOT_FOUND */
export async function restore<F extends object>(facts: readonly F[], blobs: BlobStore, ref: SessionRef): Promise<readonly F[]> {
  if (!facts.some((fact) => "blobs" in fact)) return facts;
  return Promise.all(facts.map((fact) => restoreOne(fact, blobs, ref)));
}

async function restoreOne<F extends object>(fact: Stored<F>, blobs: BlobStore, { scope, session }: SessionRef): Promise<F> {
  const { blobs: spilled, ...light } = fact;
  let whole: unknown = light;
  for (const { path, key } of spilled ?? []) {
    const found = await blobs.get(scope, key, { session });
    if (!found)
      throw new AgentError("BLOB_NOT_FOUND", {
        message: `The large value ${key} of the log is missing from the blob store.`,
        details: { key },
      });
    whole = setAt(whole, path, JSON.parse(new TextDecoder().decode(found.bytes)));
  }
  return whole as F;
}

/** A copy with the value at the path. */
function setAt(whole: unknown, [step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(whole)) return whole.map((item, i) => (i === step ? setAt(item, rest, value) : item));
  return { ...(whole as object), [step]: setAt((whole as Record<string | number, unknown>)[step], rest, value) };
}
