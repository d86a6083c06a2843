/*
 * Owns: the size limits of a fact and of a part of a snapshot. A larger value goes to the blob store under its SHA-256, and a reference stays;
 * reading puts the value back, so that the loop sees no difference.
 */
import { AgentError } from "../../errors.ts";
import { findJsonFlaw, jsonDepthMax } from "../../message/json.ts";
import { boundOf, jsonBytes, weigh } from "../../message/json-bytes.ts";
import { sha256 } from "../../message/sha256.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import { appendLimits, type SessionRef } from "../../ports/session-log.ts";
import { type Path, planSpill } from "./choose-values-to-spill.ts";

/** The path of a value that was moved out of a fact, and the blob with the value. Kept beside the fact's own fields, so content cannot imitate it. */
interface Spilled {
  readonly path: Path;
  readonly key: string;
}

/** A fact as the log holds it. */
type Stored<F> = F & { readonly blobs?: readonly Spilled[] };

/** @throws AgentError INPUT_INVALID when a value nests too deeply or has a forbidden key, because such a fact could not be read again. */
export function checkPayload(value: unknown, what: string): void {
  const flaw = findJsonFlaw(value);
  if (!flaw) return;
  const problem = { too_deep: `nests deeper than ${jsonDepthMax} levels`, forbidden_key: "has a forbidden key", not_json: "is not JSON" }[
    flaw
  ];
  throw new AgentError("INPUT_INVALID", { message: `${what} ${problem}.`, fix: "Send plain JSON without such keys." });
}

/** True if the fact is within its limit. */
export function fitsLog(fact: object): boolean {
  return sizeIn(fact) <= appendLimits.factBytes;
}

/** True if a batch of these facts is within its limit. */
export function fitsBatch(facts: readonly object[]): boolean {
  let bytes = 0;
  for (const fact of facts) {
    const size = sizeIn(fact);
    if (size > appendLimits.factBytes) return false;
    bytes += size;
  }
  return bytes <= appendLimits.batchBytes;
}

/** The size for a comparison with the limits: a cheap bound if that decides it, the exact bytes otherwise. */
function sizeIn(fact: object): number {
  const weight = weigh(fact);
  if (weight > appendLimits.factBytes) return weight;
  return weight * 2 <= appendLimits.factBytes ? weight * 2 : jsonBytes(fact);
}

/** The facts of one batch in the form for the log, so that each fact and the batch are within their limits. The same facts if nothing is too large. */
export async function spillBatch<F extends object>(facts: readonly F[], blobs: BlobStore, ref: SessionRef): Promise<readonly F[]> {
  const { factBytes, batchBytes } = appendLimits;
  const light = await spillOver(facts, { most: factBytes, blobs, ref, sizeOf: sizeIn });
  if (light.reduce((sum, fact) => sum + boundOf(fact), 0) <= batchBytes) return light;
  if (light.reduce((sum, fact) => sum + jsonBytes(fact), 0) <= batchBytes) return light;
  // This pass begins with the original facts: under the lower limit, a larger value around one that was moved out may have to move as a whole.
  return spillOver(facts, { most: Math.floor(batchBytes / facts.length), blobs, ref, sizeOf: jsonBytes });
}

interface SpillTarget {
  readonly blobs: BlobStore;
  /** The session that owns the stored values. */
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

/** The fact with references to its large values, which are written to the blob store before the fact is appended. */
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

/** The facts with every moved value put back. @throws AgentError BLOB_NOT_FOUND */
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
