import { AgentError, type Fact } from "@loopwright/core";
import { openObject, type SealPlace, sealObject } from "./sealed-object.ts";

/** Since when a session needs an owner, and the slot whose mark records it. */
export interface EntryDue {
  readonly at: number;
  readonly slot: number;
}

/** The entry of one slot of a log. The slots of a log are the order in which everything about it happened. */
export interface EntryHeader {
  readonly slot: number;
  /** Seq of its first fact, also where it has none. */
  readonly from: number;
  readonly factCount: number;
  readonly batchId?: string;
  /** A new epoch begins; everything of an older one that comes later is void. */
  readonly claim?: { readonly epoch: number; readonly nonce: string };
  /** The lease of this epoch is given back. */
  readonly released?: number;
  /** Absent: as before. */
  readonly due?: EntryDue | null;
  /** Its last fact is `session.closed`. */
  readonly closes?: true;
  /** The session was removed: what came before counts no more, and nothing but claims may follow. */
  readonly removed?: true;
}

export interface Entry extends EntryHeader {
  /** Facts as JSON, one each. */
  readonly lines: readonly string[];
  /** Of this entry and, through it, of all before. */
  readonly digest: string;
}

/** The entry as an object for its slot. */
export function sealEntry(
  header: EntryHeader,
  lines: readonly string[],
  place: SealPlace,
): { readonly bytes: Uint8Array; readonly entry: Entry } {
  const { bytes, digest } = sealObject({ header, lines }, place);
  return { bytes, entry: { ...header, lines, digest } };
}

/** The entry in an object. @throws AgentError SESSION_CORRUPT, STORE_TOO_NEW */
export function openEntry(bytes: Uint8Array, place: SealPlace): Entry {
  const { header, lines, digest } = openObject(bytes, place);
  // The seal has proved that this is what a writer of this package wrote.
  return { ...(header as EntryHeader), lines, digest };
}

/** The facts of lines that a seal has covered. */
export function factsOf(lines: readonly string[]): readonly Fact[] {
  try {
    return JSON.parse(`[${lines.join(",")}]`);
  } catch {
    throw new AgentError("SESSION_CORRUPT", { message: "A fact of the log is not JSON." });
  }
}
