import type { AgentError } from "../../errors.ts";
import type { Fact } from "../../loop/fact.ts";
import { upCast } from "../../loop/up-cast.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import { sessionTooNew } from "../setup/session-errors.ts";
import { firstUnknown } from "./check-facts.ts";
import { hydrate } from "./payload.ts";

/** What this build makes of facts that were read. */
export interface UnderstoodFacts {
  /** As this build would have written them, whole: all of them, or those before the first that is not understood. */
  readonly facts: readonly Fact[];
  /** SESSION_TOO_NEW: what comes after them was written by a newer version. */
  readonly tooNew?: AgentError;
}

export interface ReadFrom {
  readonly blobs: BlobStore;
  readonly scope: string;
  readonly sessionId: string;
  /** The seq before the first of them. */
  readonly after: number;
}

/** @throws AgentError SESSION_CORRUPT when a number is missing, BLOB_NOT_FOUND, STORE_* */
export async function understandFacts(read: readonly Fact[], { blobs, scope, sessionId, after }: ReadFrom): Promise<UnderstoodFacts> {
  const unknown = firstUnknown(read, { sessionId, after });
  const known = unknown ? read.slice(0, unknown.seq - after - 1) : read;
  const facts = upCast(await hydrate(known, blobs, { scope, session: sessionId }));
  return unknown ? { facts, tooNew: sessionTooNew(sessionId, unknown) } : { facts };
}
