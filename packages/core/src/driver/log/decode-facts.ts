import type { AgentError } from "../../errors.ts";
import type { Fact } from "../../loop/fact.ts";
import { upCast } from "../../loop/up-cast-old-facts.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import { sessionTooNew } from "../setup/session-errors.ts";
import { firstUnknown } from "./first-unknown-fact.ts";
import { restore } from "./spill-large-values.ts";

/** Facts of the log in the form that this build folds. */
export interface DecodedFacts {
  /** The facts in the current version and with their large values, up to the first fact that this build does not know. */
  readonly facts: readonly Fact[];
  /** SESSION_TOO_NEW, if `facts` ends before a fact that a newer version has written. */
  readonly tooNew?: AgentError;
}

export interface ReadFrom {
  readonly blobs: BlobStore;
  readonly scope: string;
  readonly sessionId: string;
  /** The seq of the fact before the first one that was read. */
  readonly after: number;
}

/** @throws AgentError SESSION_CORRUPT when a seq is missing, BLOB_NOT_FOUND, STORE_* */
export async function decodeFacts(read: readonly Fact[], { blobs, scope, sessionId, after }: ReadFrom): Promise<DecodedFacts> {
  const unknown = firstUnknown(read, { sessionId, after });
  const known = unknown ? read.slice(0, unknown.seq - after - 1) : read;
  const facts = upCast(await restore(known, blobs, { scope, session: sessionId }));
  return unknown ? { facts, tooNew: sessionTooNew(sessionId, unknown) } : { facts };
}
