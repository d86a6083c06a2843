/*
 * Owns: the one small draft that makes chunks a snapshot: up to which fact, of which version of the fold, which chunks, and the rest of the state.
 */
import type { Fact } from "../../loop/fact.ts";
import { foldVersion } from "../../loop/fold.ts";
import type { State } from "../../loop/state.ts";
import { type Lengths, lengthsOf, restOf, type StateRest, stateFrom } from "../../loop/state-image.ts";
import { canonicalJson } from "../../message/canonical-json.ts";
import { digestOf } from "../../message/digest.ts";
import type { Json } from "../../message/json.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import type { Deps } from "../setup/deps.ts";
import { fitWithin, lengthsOfAll, readChunks } from "./fold-chunks.ts";
import { dehydrate, fitsLog, hydrate } from "./payload.ts";

export const headName = "fold";

/** What a snapshot consists of. */
export interface FoldHead {
  /** Version of the fold that made it. */
  readonly fold: number;
  /** The last fact in it, and the digest of that fact as the log has it. */
  readonly seq: number;
  readonly fact: string;
  /** Digests of the chunks, in their order. */
  readonly chunks: readonly string[];
  readonly lengths: Lengths;
  readonly rest: StateRest;
  /** The last event that was told of the facts in it. Absent where the process that wrote it did not know. */
  readonly told?: EventCursor;
}

type Shelf = Pick<Deps, "store" | "ref">;

/** The digest of a fact as the log gives it. */
export const factDigest = (fact: Fact): string => digestOf(canonicalJson(JSON.parse(JSON.stringify(fact)) as Json));

/** The head of a state whose chunks are written. */
export function headOf(state: State, fact: Fact, chunks: readonly string[]): FoldHead {
  return { fold: foldVersion, seq: state.seq, fact: factDigest(fact), chunks, lengths: lengthsOf(state), rest: restOf(state) };
}

export async function writeHead({ store, ref }: Shelf, head: FoldHead): Promise<void> {
  const { rest } = head;
  const text = JSON.stringify({ ...head, rest: fitsLog(rest) ? rest : await dehydrate(rest, store.blobs, ref) });
  await store.drafts.put(ref, headName, { digest: digestOf(text), text });
}

/** `undefined` where there is none; a sentence where it is not what was written. @throws AgentError STORE_* */
export async function readHead({ store, ref }: Shelf): Promise<FoldHead | string | undefined> {
  const draft = await store.drafts.get(ref, headName);
  if (draft === undefined) return undefined;
  const { digest, text } = Object(draft) as { readonly digest?: unknown; readonly text?: unknown };
  return typeof text === "string" && digestOf(text) === digest ? (JSON.parse(text) as FoldHead) : "the head is not what was written";
}

/** The state that the head and its chunks make; a sentence where they make none. @throws AgentError STORE_*, BLOB_NOT_FOUND */
export async function readState(shelf: Shelf, { chunks, lengths, rest }: FoldHead): Promise<State | string> {
  const growths = await readChunks(shelf, chunks);
  if (typeof growths === "string") return growths;
  const found = lengthsOfAll(growths);
  if (!fitWithin(found, lengths) || !fitWithin(lengths, found)) return "its chunks hold something else";
  const [whole = rest] = await hydrate([rest], shelf.store.blobs, shelf.ref);
  return stateFrom(whole, growths);
}

/** The state of a snapshot that ends at `lastSeq` or before; `undefined` where there is none, or it is not what it ought to be. */
export async function keptState(shelf: Shelf, lastSeq: number): Promise<State | undefined> {
  try {
    const head = await readHead(shelf);
    if (typeof head !== "object" || head.fold !== foldVersion || head.seq > lastSeq) return undefined;
    const [state, [fact]] = await Promise.all([readState(shelf, head), shelf.store.log.read(shelf.ref, { from: head.seq, limit: 1 })]);
    return typeof state === "object" && fact?.seq === head.seq && factDigest(fact) === head.fact ? state : undefined;
  } catch {
    return undefined; // What is wrong with the store the log says.
  }
}
