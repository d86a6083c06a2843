/*
 * Owns: what a fact may weigh, and a part of a snapshot. A value too large goes to the blob store under its SHA-256 and leaves a reference;
 * reading puts it back, so that the loop never sees the difference.
 */
import { AgentError } from "../errors.ts";
import { findJsonFlaw, jsonDepthMax } from "../message/json.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import { appendLimits } from "../ports/session-log.ts";
import { sha256 } from "./sha256.ts";

/** Values smaller than this stay in the fact. */
const spillMin = 32 * 1024;

type Path = readonly (string | number)[];

/** Where in a fact a value is missing, and the blob that has it. Beside the fact's own fields, so that no content can pass for it. */
interface Spilled {
  readonly path: Path;
  readonly key: string;
}

/** A fact as the log holds it. */
type Stored<F> = F & { readonly blobs?: readonly Spilled[] };

/** An upper bound of the bytes of a value as JSON, without making the JSON. Cost: one visit per node. */
export function weigh(value: unknown): number {
  if (typeof value === "string") return value.length * 3 + 2;
  if (typeof value !== "object" || value === null) return 24;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += weigh(item) + 1;
  else for (const key in value) bytes += key.length * 3 + 4 + weigh((value as Record<string, unknown>)[key]);
  return bytes;
}

/** @throws AgentError INPUT_INVALID when a value nests too deeply or has a forbidden key: it would poison the log. */
export function checkPayload(value: unknown, what: string): void {
  const flaw = findJsonFlaw(value);
  if (!flaw) return;
  const said = { too_deep: `nests deeper than ${jsonDepthMax} levels`, forbidden_key: "has a forbidden key", not_json: "is not JSON" }[
    flaw
  ];
  throw new AgentError("INPUT_INVALID", { message: `${what} ${said}.`, fix: "Send plain JSON without such keys." });
}

/** True when the fact is small enough as it is. */
export function fitsLog(fact: object): boolean {
  return weigh(fact) <= appendLimits.factBytes;
}

/** The fact with its large values in the blob store, written before the fact is. */
export async function dehydrate<F extends object>(fact: F, blobs: BlobStore, scope: string): Promise<F> {
  const spills: { readonly path: Path; readonly value: unknown }[] = [];
  const light = lighten(fact, [], spills) as F;
  const spilled = await Promise.all(
    spills.map(async ({ path, value }): Promise<Spilled> => ({ path, key: await store(value, blobs, scope) })),
  );
  return { ...light, blobs: spilled };
}

/** A copy in which every value that is large and has no large part stands as null. */
function lighten(value: unknown, path: Path, spills: { readonly path: Path; readonly value: unknown }[]): unknown {
  if (weigh(value) < spillMin) return value;
  const isBranch = typeof value === "object" && value !== null;
  if (path.length > 0 && (!isBranch || !Object.values(value).some((child) => weigh(child) >= spillMin))) {
    spills.push({ path, value });
    return null;
  }
  if (Array.isArray(value)) return value.map((item, i) => lighten(item, [...path, i], spills));
  return Object.fromEntries(Object.entries(value as object).map(([key, child]) => [key, lighten(child, [...path, key], spills)]));
}

async function store(value: unknown, blobs: BlobStore, scope: string): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const key = `sha256-${await sha256(bytes)}`;
  await blobs.put(scope, key, { bytes, ifAbsent: true, mediaType: "application/json" });
  return key;
}

/** The facts with every spilled value back in its place. @throws AgentError BLOB_NOT_FOUND */
export async function hydrate<F extends object>(facts: readonly F[], blobs: BlobStore, scope: string): Promise<readonly F[]> {
  if (!facts.some((fact) => "blobs" in fact)) return facts;
  return Promise.all(facts.map((fact) => hydrateOne(fact, blobs, scope)));
}

async function hydrateOne<F extends object>(fact: Stored<F>, blobs: BlobStore, scope: string): Promise<F> {
  const { blobs: spilled, ...light } = fact;
  let whole: unknown = light;
  for (const { path, key } of spilled ?? []) {
    const found = await blobs.get(scope, key);
    if (!found)
      throw new AgentError("BLOB_NOT_FOUND", {
        message: `The payload ${key} of the log is missing from the blob store.`,
        details: { key },
      });
    whole = place(whole, path, JSON.parse(new TextDecoder().decode(found.bytes)));
  }
  return whole as F;
}

/** A copy with the value at the path. */
function place(target: unknown, [step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(target)) return target.map((item, i) => (i === step ? place(item, rest, value) : item));
  return { ...(target as object), [step]: place((target as Record<string | number, unknown>)[step], rest, value) };
}
