import { AgentError } from "@loopwright/core";
import type { EntryDue } from "./log-entry.ts";
import { openObject, sealObject } from "./sealed-object.ts";

/** Many batches in one object, and their ids in another. */
export interface Segment {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly sizeBytes: number;
  readonly digest: string;
  readonly idsDigest: string;
}

/** The state of a log after a slot, so that the slots up to it need not be read. */
export interface Checkpoint {
  readonly slot: number;
  readonly digest: string;
  readonly lastSeq: number;
  readonly epoch: number;
  readonly released: number;
  readonly isClosed: boolean;
  readonly isRemoved: boolean;
  readonly due: EntryDue | null;
  readonly segments: readonly Segment[];
  /** Slots up to here have given their room back. */
  readonly sweptSlot: number;
}

/** What a log is before anything happened. */
export const noCheckpoint: Checkpoint = {
  slot: 0,
  digest: "",
  lastSeq: 0,
  epoch: 0,
  released: 0,
  isClosed: false,
  isRemoved: false,
  due: null,
  segments: [],
  sweptSlot: 0,
};

export function sealCheckpoint(checkpoint: Checkpoint, key: string): Uint8Array {
  return sealObject({ header: checkpoint, lines: [] }, { key, before: "" }).bytes;
}

/** @throws AgentError SESSION_CORRUPT, STORE_TOO_NEW */
export function openCheckpoint(bytes: Uint8Array, key: string): Checkpoint {
  return openObject(bytes, { key, before: "" }).header as Checkpoint;
}

/** The batches of a segment: its id and the seq of its last fact, each. */
export type BatchIds = readonly (readonly [batchId: string, lastSeq: number])[];

/** The two objects of a segment, made of facts as JSON and of ids. The same content has the same name. */
export function sealSegment(
  { from, lines, ids }: { readonly from: number; readonly lines: readonly string[]; readonly ids: BatchIds },
  folder: string,
): { readonly segment: Segment; readonly bytes: Uint8Array; readonly idsBytes: Uint8Array } {
  const to = from + lines.length - 1;
  const draft = sealObject({ header: { from, to }, lines }, { key: folder, before: "" });
  const idsDraft = sealObject({ header: { ids }, lines: [] }, { key: folder, before: draft.digest });
  const name = `${from}-${to}-${draft.digest.slice(0, 16)}`;
  const segment = { name, from, to, sizeBytes: draft.bytes.length, digest: draft.digest, idsDigest: idsDraft.digest };
  return { segment, bytes: draft.bytes, idsBytes: idsDraft.bytes };
}

/** The facts of a segment as JSON. @throws AgentError SESSION_CORRUPT, STORE_TOO_NEW */
export function openSegment(bytes: Uint8Array, segment: Segment, folder: string): readonly string[] {
  const { lines, digest } = openObject(bytes, { key: folder, before: "" });
  if (digest !== segment.digest) throw mismatch(segment, folder);
  return lines;
}

/** The batches of a segment. @throws AgentError SESSION_CORRUPT, STORE_TOO_NEW */
export function openIds(bytes: Uint8Array, segment: Segment, folder: string): BatchIds {
  const { header, digest } = openObject(bytes, { key: folder, before: segment.digest });
  if (digest !== segment.idsDigest) throw mismatch(segment, folder);
  return (header as { readonly ids: BatchIds }).ids;
}

export const segmentKey = (folder: string, { name }: Segment): string => `${folder}${name}`;
export const idsKey = (folder: string, { name }: Segment): string => `${folder}${name}.ids`;

function mismatch({ name }: Segment, folder: string): AgentError {
  return new AgentError("SESSION_CORRUPT", { message: `The object \`${folder}${name}\` is not the one that its log names.` });
}
