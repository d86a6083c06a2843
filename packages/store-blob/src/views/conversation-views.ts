import { foldSession, type SessionFold, type SessionSnapshot } from "@loopwright/core";
import { type BlobStore, refKey } from "@loopwright/core/ports";
import type { OpenLog } from "../log/open-log.ts";
import { readFacts } from "../log/read-facts.ts";
import { storeLimits } from "../store-limits.ts";
import type { ConversationMessage, ConversationView } from "./conversation-view.ts";

/** Keeps some conversations folded, so that each view costs what is new and what it shows. */
export class ConversationViews {
  readonly #payloads: BlobStore;
  readonly #folds = new Map<string, SessionFold>();

  constructor(payloads: BlobStore) {
    this.#payloads = payloads;
  }

  /** Writes the view of a session as it is now. @throws AgentError SESSION_CORRUPT, SESSION_TOO_NEW, STORE_*, BLOB_NOT_FOUND */
  async write(log: OpenLog, lastSeq: number): Promise<void> {
    const fold = this.#foldOf(log);
    while (fold.seq < lastSeq) await fold.add(await readFacts(log, { from: fold.seq + 1, limit: storeLimits.factsPerRead, lastSeq }));
    const snapshot = fold.snapshot();
    if (snapshot.status === "running") return;
    const view = viewOf(snapshot, { scope: log.ref.scope, lastSeq: fold.seq, status: snapshot.status });
    const options = { mediaType: "application/json", isDurable: false };
    await log.deps.blobs.put(log.keys.view, new TextEncoder().encode(`${JSON.stringify(view)}\n`), options);
  }

  forget({ ref }: OpenLog): void {
    this.#folds.delete(refKey(ref));
  }

  #foldOf({ ref }: OpenLog): SessionFold {
    const name = refKey(ref);
    const fold = this.#folds.get(name) ?? foldSession(ref, this.#payloads);
    // The one used last comes last.
    this.#folds.delete(name);
    this.#folds.set(name, fold);
    const [oldest] = this.#folds.keys();
    if (this.#folds.size > storeLimits.foldsMax && oldest !== undefined) this.#folds.delete(oldest);
    return fold;
  }
}

function viewOf(
  snapshot: SessionSnapshot,
  { scope, lastSeq, status }: Pick<ConversationView, "scope" | "lastSeq" | "status">,
): ConversationView {
  const { sessionId: id, agent, title, createdAt, updatedAt, lastRun } = snapshot;
  const path = pathOf(snapshot);
  const messages = path.slice(-storeLimits.viewMessagesMax);
  return {
    format: 1,
    id,
    scope,
    agent,
    ...(title === undefined ? {} : { title }),
    status,
    createdAt,
    updatedAt,
    lastSeq,
    ...(lastRun ? { lastRun: { status: lastRun.status, reason: lastRun.reason } } : {}),
    messages,
    ...(path.length > messages.length ? { earlierCount: path.length - messages.length } : {}),
  };
}

/** From the first message to the head. */
function pathOf({ messages, head }: SessionSnapshot): readonly ConversationMessage[] {
  const byId = new Map(messages.map((one) => [one.id, one]));
  const path: ConversationMessage[] = [];
  for (let one = head === null ? undefined : byId.get(head); one; one = one.parent === null ? undefined : byId.get(one.parent))
    path.push({ id: one.id, at: one.at, ...(one.runId === undefined ? {} : { runId: one.runId }), ...one.message });
  return path.reverse();
}
