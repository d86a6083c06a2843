/*
 * Owns: the choice of the values of a fact that go to the blob store, so that the rest is small enough. Does not own: writing them (spill-large-values).
 * Invariant: the rest is within its limit of bytes, whatever the shape of the fact. Only the few fields that stores read must stay.
 */
import { jsonBytes } from "../../message/json-bytes.ts";

export type Path = readonly (string | number)[];

/** A value that is moved out of a fact, and its path. */
export interface Spill {
  readonly path: Path;
  readonly value: unknown;
}

/** Smaller values stay in the fact, unless the limit of the fact is low. */
const spillMin = 32 * 1024;

/** Bytes of an entry of `blobs` beside its path: names, key, punctuation. */
const entryBytes = 100;

/** The fields of a fact that stores read. */
const ownFields: ReadonlySet<string> = new Set(["type", "seq", "at", "v", "epoch"]);

/** The fields of a fact that an index reads: they are moved out last. */
const indexFields: ReadonlySet<string> = new Set([...ownFields, "runId", "callKey", "callKeys", "status", "usage", "cost"]);

/** A value whose spills were moved out. */
interface Remaining {
  readonly value: unknown;
  /** Its bytes, including the entries of its spills. */
  readonly bytes: number;
}

interface SpillPlan {
  /** A value of this many bytes or more is large. */
  readonly least: number;
  /** The path from the fact to this value. */
  readonly path: (string | number)[];
  readonly spills: Spill[];
}

/** A copy of the fact with null in place of large values, and those values. The copy and the list of its blobs have at most `most` bytes of JSON. */
export function planSpill<F extends object>(fact: F, most: number): { readonly light: F; readonly spills: readonly Spill[] } {
  const least = Math.min(spillMin, most >> 3);
  const spills: Spill[] = [];
  const fields = new Map<string, Remaining>();
  for (const [key, value] of Object.entries(fact)) {
    const plan: SpillPlan = { least, path: [key], spills };
    fields.set(key, indexFields.has(key) ? { value, bytes: jsonBytes(value) } : planAt(value, plan));
  }
  const gone = new Set<string>();
  let bytes = sum([...fields].map(([key, field]) => jsonBytes(key) + field.bytes + 2)) + 14;
  // Many small fields may be too large together.
  while (bytes > most) {
    const [key, field] = largest([...fields].filter(([name]) => !ownFields.has(name) && !gone.has(name)));
    const left: Remaining = { value: null, bytes: spilledBytes([key]) };
    if (!field || field.bytes <= left.bytes) break;
    gone.add(key);
    fields.set(key, left);
    bytes += left.bytes - field.bytes;
  }
  const own = spills.filter(({ path }) => !gone.has(String(path[0])));
  const whole = Object.entries(fact).flatMap(([key, value]): Spill[] => (gone.has(key) ? [{ path: [key], value }] : []));
  const light = Object.fromEntries([...fields].map(([key, { value }]) => [key, value])) as F;
  return { light, spills: [...own, ...whole] };
}

/** Moves large parts out of the value. If the rest is still large, the value is moved out whole instead. */
function planAt(value: unknown, plan: SpillPlan): Remaining {
  const { least, path, spills } = plan;
  const first = spills.length;
  const light = typeof value === "object" && value !== null ? planBranch(value, plan) : { value, bytes: jsonBytes(value) };
  if (light.bytes < least) return light;
  const bytes = spilledBytes(path);
  if (bytes >= light.bytes) return light;
  spills.length = first;
  spills.push({ path: [...path], value });
  return { value: null, bytes };
}

function planBranch(branch: object, plan: SpillPlan): Remaining {
  const { path, spills } = plan;
  const first = spills.length;
  let bytes = 2;
  const at = (key: string | number, child: unknown): unknown => {
    path.push(key);
    const light = planAt(child, plan);
    path.pop();
    bytes += light.bytes + (typeof key === "string" ? jsonBytes(key) + 2 : 1);
    return light.value;
  };
  const copy = Array.isArray(branch)
    ? branch.map((item, index) => at(index, item))
    : Object.fromEntries(Object.entries(branch).map(([key, child]) => [key, at(key, child)]));
  return { value: spills.length === first ? branch : copy, bytes };
}

const spilledBytes = (path: Path): number => jsonBytes(path) + jsonBytes(null) + entryBytes;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

function largest(fields: readonly (readonly [string, Remaining])[]): readonly [string, Remaining | undefined] {
  return fields.reduce<readonly [string, Remaining | undefined]>(
    (most, field) => (field[1].bytes > (most[1]?.bytes ?? 0) ? field : most),
    ["", undefined],
  );
}
