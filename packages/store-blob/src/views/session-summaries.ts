/*
 * A summary is a projection of a log in an object of its own. A settled summary is up to date: its log has not grown since. Before a process writes to
 * a session it marks the summary as not settled, and it settles the summary when the session rests. So a list reads only the logs that are being
 * written, and those whose writer has died.
 */
import { type Fact, isAgentError } from "@loopwright/core";
import { refKey, type SessionRef, type SessionSummary } from "@loopwright/core/ports";
import { parentOf, projectSession, type SessionProjection } from "@loopwright/core/stores";
import { type OpenLog, wholeState } from "../log/open-log.ts";
import type { OpenLogs } from "../log/open-logs.ts";
import { readFacts } from "../log/read-facts.ts";
import { openObject, sealObject } from "../log/sealed-object.ts";
import { storeLimits } from "../store-limits.ts";
import { listMarks } from "./list-marks.ts";
import type { Place, ScopePlaces } from "./session-places.ts";

interface KnownSession {
  projection: SessionProjection | undefined;
  /** The `nonce` of the settled object that the projection was read from or written to. */
  settledNonce: string | undefined;
  /** The unsettled object of this process, and the fact up to which no other process has written since. With it, the log may be written. */
  unsettled: { readonly etag: string; readonly nonce: string; ownSeq: number } | undefined;
  /** The key of the mark by which the session is listed while it rests. */
  restingMark: string | undefined;
}

interface StoredSummary {
  readonly isSettled: boolean;
  /** A unique value, so that two objects never have the same version. */
  readonly nonce: string;
  readonly projection?: SessionProjection;
  /** The key of the last resting mark of the session; absent in a place for one writer. */
  readonly restingMark?: string;
}

interface Added {
  readonly updatedAt: number;
  readonly facts: readonly Fact[];
  readonly known: KnownSession;
}

/** The stored summary of a session, as a list needs it. */
export interface LookedUp {
  readonly summary: SessionSummary | undefined;
  /** The stored summary is settled. */
  readonly isSettled: boolean;
  readonly isRemoved: boolean;
  readonly restingMark: string | undefined;
}

export interface Page {
  readonly limit: number;
  readonly before?: Place | undefined;
  /** Of the children of this session; default: of those that are children of none. */
  readonly parent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The summaries of sessions: the objects, and the copies in this process. */
export class SessionSummaries {
  readonly #logs: OpenLogs;
  readonly #sessionsMax: number;
  readonly #places: ScopePlaces | undefined;
  readonly #known = new Map<string, KnownSession>();

  /** `places`: those of all sessions, kept where this process is the only writer. */
  constructor(
    logs: OpenLogs,
    { places, sessionsMax = storeLimits.summariesMax }: { readonly places: ScopePlaces | undefined; readonly sessionsMax?: number },
  ) {
    this.#logs = logs;
    this.#places = places;
    this.#sessionsMax = sessionsMax;
  }

  /** Marks a session as being written, unless this process has and no other process wrote behind it. @throws AgentError STORE_UNAVAILABLE, STORE_FULL */
  async mark(log: OpenLog, lastSeq: number): Promise<void> {
    const known = this.#of(log);
    if (known.unsettled?.ownSeq === lastSeq) return;
    if (!known.projection || !this.#places) {
      const stored = (await this.#stored(log))?.stored;
      known.projection = stored?.projection ?? known.projection;
      known.restingMark = stored?.restingMark;
    }
    const nonce = crypto.randomUUID();
    const outcome = await this.#put(log, { isSettled: false, nonce, known });
    known.settledNonce = undefined;
    if (outcome.type === "full") return;
    if (!this.#places) await listMarks.begin(log, nonce);
    // An outcome that is unknown counts as written, because a summary is settled only under the version of its unsettled object.
    known.unsettled = { etag: outcome.type === "written" ? outcome.etag : "", nonce, ownSeq: lastSeq };
  }

  /** Adds facts that this process has written. Returns the projection after them, if it is complete. */
  add(log: OpenLog, facts: readonly Fact[]): SessionProjection | undefined {
    const known = this.#of(log);
    const [first, last] = [facts[0], facts.at(-1)];
    if (last) this.#note(log.ref, { updatedAt: last.at, facts, known });
    if (last && known.unsettled) known.unsettled.ownSeq = last.seq;
    if (!first || first.seq !== (known.projection?.summary.lastSeq ?? 0) + 1) return undefined;
    known.projection = projectSession(log.ref.session, known.projection, facts);
    return known.projection;
  }

  /** One whose parent is not known is looked up by the first list. */
  #note({ scope, session: id }: SessionRef, { updatedAt, facts, known }: Added): void {
    const places = this.#places?.of(scope);
    if (!places) return;
    const parent = parentOf(facts);
    const beginning =
      parent === undefined ? (known.projection?.summary ?? (facts[0]?.seq === 1 ? { parent } : places.get(id))) : { parent };
    if (beginning) places.note({ updatedAt, id, parent: beginning.parent });
  }

  /** The current projection of the log. @throws AgentError SESSION_CORRUPT, STORE_* */
  async fresh(log: OpenLog): Promise<SessionProjection | undefined> {
    const { lastSeq, isRemoved } = wholeState(await log.run(() => log.current()));
    if (isRemoved) return undefined;
    const known = this.#of(log);
    let projection = known.projection ?? (await this.#stored(log))?.stored.projection;
    if (projection && projection.summary.lastSeq > lastSeq) projection = undefined;
    while ((projection?.summary.lastSeq ?? 0) < lastSeq) {
      const from = (projection?.summary.lastSeq ?? 0) + 1;
      projection = projectSession(log.ref.session, projection, await readFacts(log, { from, limit: storeLimits.factsPerRead, lastSeq }));
    }
    if ((known.projection?.summary.lastSeq ?? 0) <= lastSeq) known.projection = projection;
    return projection;
  }

  /** Settles the summary of a session that rests, unless it was written meanwhile. */
  async settle(log: OpenLog, projection: SessionProjection): Promise<void> {
    const known = this.#of(log);
    await log.run(async () => {
      const { lastSeq, isRemoved } = await log.known();
      const { unsettled } = known;
      if (isRemoved || lastSeq !== projection.summary.lastSeq || !unsettled?.etag) return;
      const nonce = crypto.randomUUID();
      const { id, updatedAt, parent } = projection.summary;
      const before = known.restingMark;
      if (!this.#places) known.restingMark = await listMarks.rest(log, { id, updatedAt, nonce, parent }, before);
      known.projection = projection;
      const outcome = await this.#put(log, { isSettled: true, nonce, known }, unsettled.etag);
      known.unsettled = undefined;
      known.settledNonce = outcome.type === "written" ? nonce : undefined;
      if (!this.#places && outcome.type === "written") await listMarks.end(log, unsettled.nonce);
    });
  }

  async remove(log: OpenLog): Promise<void> {
    const { blobs } = log.deps;
    if (!this.#places) await listMarks.remove(log, (await this.#stored(log))?.stored.restingMark);
    this.#known.delete(nameOf(log));
    this.#places?.of(log.ref.scope).forget(log.ref.session);
    await blobs.remove(log.keys.summary, { isDurable: true });
  }

  /** Computes a summary from its log alone; true if the log has a session. @throws AgentError STORE_* */
  async remake(log: OpenLog): Promise<boolean> {
    this.#known.delete(nameOf(log));
    const places = this.#places?.of(log.ref.scope);
    if (places) places.isWhole = false;
    try {
      await this.remove(log);
      await log.run(async () => this.mark(log, (await log.known()).lastSeq));
      const projection = await this.fresh(log);
      if (!projection) await this.remove(log);
      else if (projection.summary.status !== "running") await this.settle(log, projection);
      return projection !== undefined;
    } catch (error) {
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
      return true;
    }
  }

  /** The summary of a session for a list. `nonce`: of the settled object that a mark names, which need not be read again. */
  async lookUp(ref: SessionRef, nonce?: string): Promise<LookedUp> {
    const known = this.#of({ ref });
    const settled = (): LookedUp => ({
      summary: known.projection?.summary,
      isSettled: true,
      isRemoved: false,
      restingMark: known.restingMark,
    });
    const isKnown = known.unsettled === undefined && known.settledNonce !== undefined && (this.#places || known.settledNonce === nonce);
    // Without the log: a search looks up more sessions than logs are kept open.
    if (isKnown) return settled();
    const log = this.#logs.of(ref);
    if (known.unsettled === undefined) {
      const stored = (await this.#stored(log))?.stored;
      if (stored?.isSettled && known.unsettled === undefined) {
        known.projection = stored.projection;
        known.settledNonce = stored.nonce;
        known.restingMark = stored.restingMark;
        return settled();
      }
    }
    const unsettled = { isSettled: false, isRemoved: false, restingMark: undefined };
    try {
      const summary = (await log.hold(() => this.fresh(log)))?.summary;
      return { ...unsettled, summary, isRemoved: summary === undefined && (await log.run(() => log.known())).isRemoved };
    } catch (error) {
      // A damaged log is reported to its readers; the list continues with what is known.
      if (!isAgentError(error, "SESSION_CORRUPT") && !isAgentError(error, "STORE_TOO_NEW")) throw error;
      return { ...unsettled, summary: known.projection?.summary ?? unknownSummary(ref.session) };
    }
  }

  async #stored({ deps, keys }: OpenLog): Promise<{ readonly stored: StoredSummary; readonly etag: string } | undefined> {
    const key = keys.summary;
    try {
      const object = await deps.blobs.get(key);
      return object && { stored: openObject(object.bytes, { key, before: "" }).header as StoredSummary, etag: object.etag };
    } catch (error) {
      // A failure is ignored, because a summary can be computed again.
      if (isAgentError(error, "SESSION_CORRUPT") || isAgentError(error, "STORE_CORRUPT") || isAgentError(error, "STORE_TOO_NEW"))
        return undefined;
      throw error;
    }
  }

  #put(
    { deps, keys }: OpenLog,
    { isSettled, nonce, known: { projection, restingMark } }: Pick<StoredSummary, "isSettled" | "nonce"> & { readonly known: KnownSession },
    ifMatch?: string,
  ): ReturnType<OpenLog["deps"]["blobs"]["put"]> {
    const header: StoredSummary = {
      isSettled,
      nonce,
      ...(projection && { projection }),
      ...(restingMark !== undefined && { restingMark }),
    };
    const { bytes } = sealObject({ header, lines: [] }, { key: keys.summary, before: "" });
    return deps.blobs.put(keys.summary, bytes, ifMatch === undefined ? {} : { ifMatch });
  }

  #of(log: Pick<OpenLog, "ref">): KnownSession {
    const name = nameOf(log);
    const known = this.#known.get(name) ?? { projection: undefined, settledNonce: undefined, unsettled: undefined, restingMark: undefined };
    // The last used entry is the last one. An evicted entry is read again, and marked again before a write.
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#sessionsMax && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

const nameOf = ({ ref }: Pick<OpenLog, "ref">): string => refKey(ref);

function unknownSummary(id: string): SessionSummary {
  return { id, agent: "", status: "idle", createdAt: 0, updatedAt: 0, lastSeq: 0, messageCount: 0 };
}
