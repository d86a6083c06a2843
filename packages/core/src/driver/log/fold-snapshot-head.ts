/*
 * Owns: the head of a snapshot, one small value: the last fact in it, the version of the fold, the digests of its chunks, the rest of the state.
 */
import type { Fact } from "../../loop/fact.ts";
import { foldVersion } from "../../loop/fold.ts";
import { type Lengths, lengthsOf, restOf, type StateRest, stateFrom } from "../../loop/split-state-for-snapshot.ts";
import type { State } from "../../loop/state.ts";
import { canonicalJson } from "../../message/canonical-json.ts";
import { digestOf } from "../../message/digest.ts";
import type { Json } from "../../message/json.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import type { Deps } from "../setup/session-deps.ts";
import { fitWithin, lengthsOfAll, readChunks } from "./fold-snapshot-chunks.ts";
import { fitsLog, restore, spill } from "./spill-large-values.ts";

export const headName = "fold";

/** The head names every part of a snapshot. */
export interface FoldHead {
  /** Version of the fold that computed the state. */
  readonly fold: number;
  /** The last fact that the state includes: its seq, and the digest of its form in the log. */
  readonly seq: number;
  readonly fact: string;
  /** Digests of the chunks, in order. */
  readonly chunks: readonly string[];
  readonly lengths: Lengths;
  readonly rest: StateRest;
  /** Cursor of the last durable event up to `seq`. Absent if the process that wrote the head did not know the cursor. */
  readonly published?: EventCursor;
}

type SnapshotDeps = Pick<Deps, "store" | "ref">;

/** The digest of a fact in the form in which the log returns it. */
export const factDigest = (fact: Fact): string => digestOf(canonicalJson(JSON.parse(JSON.stringify(fact)) as Json));

/** The head for a state whose chunks have been written; `fact` is the last fact of the state. */
export function headOf(state: State, fact: Fact, chunks: readonly string[]): FoldHead {
  return { fold: foldVersion, seq: state.seq, fact: factDigest(fact), chunks, lengths: lengthsOf(state), rest: restOf(state) };
}

export async function writeHead({ store, ref }: SnapshotDeps, head: FoldHead): Promise<void> {
  const { rest } = head;
  const text = JSON.stringify({ ...head, rest: fitsLog(rest) ? rest : await spill(rest, store.blobs, ref) });
  await store.snapshots.put(ref, headName, { digest: digestOf(text), text });
}

/** The head; `undefined` if there is none; a text with the problem if it does not match its digest. @throws AgentError STORE_* */
export async function readHead({ store, ref }: SnapshotDeps): Promise<FoldHead | string | undefined> {
  const kept = await store.snapshots.get(ref, headName);
  if (kept === undefined) return undefined;
  const { digest, text } = Object(kept) as { readonly digest?: unknown; readonly text?: unknown };
  return typeof text === "string" && digestOf(text) === digest ? (JSON.parse(text) as FoldHead) : "the head does not match its digest";
}

/** The state of the head and its chunks; a text with the problem if a chunk is invalid. @throws AgentError STORE_*, BLOB_NOT_FOUND */
export async function readState(deps: SnapshotDeps, { chunks, lengths, rest }: FoldHead): Promise<State | string> {
  const growths = await readChunks(deps, chunks);
  if (typeof growths === "string") return growths;
  const found = lengthsOfAll(growths);
  if (!fitWithin(found, lengths) || !fitWithin(lengths, found)) return "its chunks have lists of other lengths than its head records";
  const [whole = rest] = await restore([rest], deps.store.blobs, deps.ref);
  return stateFrom(whole, growths);
}

/** The state of a snapshot that ends at `lastSeq` or before; `undefined` if there is none, or it is invalid or cannot be read. */
export async function keptState(deps: SnapshotDeps, lastSeq: number): Promise<State | undefined> {
  try {
    const head = await readHead(deps);
    if (typeof head !== "object" || head.fold !== foldVersion || head.seq > lastSeq) return undefined;
    const [state, [fact]] = await Promise.all([readState(deps, head), deps.store.log.read(deps.ref, { from: head.seq, limit: 1 })]);
    return typeof state === "object" && fact?.seq === head.seq && factDigest(fact) === head.fact ? state : undefined;
  } catch {
    return undefined; // The caller reads the log next; if the store is at fault, that read throws.
  }
}
