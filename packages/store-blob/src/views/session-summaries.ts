/*
 * A summary is a projection of a log in an object of its own. A settled summary is up to date: its log has not grown since. Before a process writes to
 * a session it marks the summary as not settled, and it settles the summary when the session rests. So a list reads only the logs that are being
 * written, and those whose writer has died.
 */
import { type Fact, isAgentError } from "@loopwright/core";
import { isId, refKey, type SessionRef, type SessionSummary } from "@loopwright/core/ports";
import { projectSession, type SessionProjection } from "@loopwright/core/stores";
import { inParallel } from "../in-parallel.ts";
import { listAll } from "../list-all.ts";
import { type OpenLog, wholeState } from "../log/open-log.ts";
import type { OpenLogs } from "../log/open-logs.ts";
import { readFacts } from "../log/read-facts.ts";
import { openObject, sealObject } from "../log/sealed-object.ts";
import { summariesOf } from "../object-keys.ts";
import { storeLimits } from "../store-limits.ts";
import { type KnownPlace, type Place, SessionPlaces } from "./session-places.ts";

interface KnownSession {
  projection: SessionProjection | undefined;
  /** The version of the settled object that the projection was read from or written to. */
  settledEtag: string | undefined;
  /** The version of this process's mark. With a mark, the log may be written. */
  markEtag: string | undefined;
}

interface StoredSummary {
  readonly isSettled: boolean;
  /** A unique value, so that two marks never have the same version. */
  readonly nonce: string;
  readonly projection?: SessionProjection;
}

interface Page {
  readonly limit: number;
  readonly before?: Place | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The summaries of sessions: the objects, and the copies in this process. */
export class SessionSummaries {
  readonly #logs: OpenLogs;
  readonly #sessionsMax: number;
  readonly #known = new Map<string, KnownSession>();
  readonly #places = new Map<string, SessionPlaces>();

  constructor(logs: OpenLogs, sessionsMax: number = storeLimits.summariesMax) {
    this.#logs = logs;
    this.#sessionsMax = sessionsMax;
  }

  /** Marks a session as being written, unless this process has. */
  async mark(log: OpenLog): Promise<void> {
    const known = this.#of(log);
    if (known.markEtag !== undefined) return;
    if (!known.projection || !log.deps.blobs.exclusive) known.projection = (await this.#stored(log))?.stored.projection ?? known.projection;
    const { projection } = known;
    const outcome = await this.#put(log, { isSettled: false, nonce: crypto.randomUUID(), ...(projection ? { projection } : {}) });
    known.settledEtag = undefined;
    // A mark with an unknown outcome counts as written, because a summary is settled only under the version of its mark.
    if (outcome.type !== "full") known.markEtag = outcome.type === "written" ? outcome.etag : "";
  }

  /** Adds facts that this process has written. Returns the projection after them, if it is complete. */
  add(log: OpenLog, facts: readonly Fact[]): SessionProjection | undefined {
    const known = this.#of(log);
    const [first, last] = [facts[0], facts.at(-1)];
    if (last) this.#placesOf(log.ref.scope).note({ updatedAt: last.at, id: log.ref.session });
    if (!first || first.seq !== (known.projection?.summary.lastSeq ?? 0) + 1) return undefined;
    known.projection = projectSession(log.ref.session, known.projection, facts);
    return known.projection;
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
      if (isRemoved || lastSeq !== projection.summary.lastSeq || !known.markEtag) return;
      const outcome = await this.#put(log, { isSettled: true, nonce: crypto.randomUUID(), projection }, known.markEtag);
      known.markEtag = undefined;
      known.settledEtag = outcome.type === "written" ? outcome.etag : undefined;
    });
  }

  async remove(log: OpenLog): Promise<void> {
    this.#known.delete(nameOf(log));
    this.#placesOf(log.ref.scope).forget(log.ref.session);
    await log.deps.blobs.remove(log.keys.summary, { isDurable: true });
  }

  /** Computes a summary from its log alone; true if the log has a session. @throws AgentError STORE_* */
  async remake(log: OpenLog): Promise<boolean> {
    this.#known.delete(nameOf(log));
    this.#placesOf(log.ref.scope).isWhole = false;
    try {
      await this.remove(log);
      await log.run(() => this.mark(log));
      const projection = await this.fresh(log);
      if (!projection) await this.remove(log);
      else if (projection.summary.status !== "running") await this.settle(log, projection);
      return projection !== undefined;
    } catch (error) {
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
      return true;
    }
  }

  /** A page of the summaries of a scope, the last changed session first, starting after a position. */
  async newest(scope: string, { limit, before, signal }: Page): Promise<readonly SessionSummary[]> {
    const places = this.#placesOf(scope);
    await this.#learnPlaces(scope, places, signal);
    const found: SessionSummary[] = [];
    for (let after = before; found.length < limit; ) {
      const some = places.newestFirst(limit - found.length, after);
      const summaries = await inParallel(some, ({ id, etag }) => this.#listed({ scope, session: id }, etag), signal);
      found.push(...summaries.flatMap((summary) => summary ?? []));
      after = some.at(-1);
      if (!after) break;
    }
    return found;
  }

  /** Updates the positions of sessions: once for all if this process is the only writer, otherwise for those whose summary other processes have written. */
  async #learnPlaces(scope: string, places: SessionPlaces, signal: AbortSignal | undefined): Promise<void> {
    const { blobs } = this.#logs.deps;
    if (places.isWhole && blobs.exclusive) return;
    const prefix = summariesOf(scope);
    const noted = places.notes;
    const etags = new Map<string, string | undefined>();
    for await (const { key, etag } of listAll(blobs, prefix)) {
      signal?.throwIfAborted();
      // A folder in place of a summary object still names its session.
      const [session = ""] = key.slice(prefix.length).split("/");
      if (isId(session)) etags.set(session, etag);
    }
    const isKnown = (id: string, place: KnownPlace | undefined): boolean =>
      place !== undefined && (blobs.exclusive !== undefined || (place.etag !== undefined && place.etag === etags.get(id)));
    const unknown = [...etags].filter(([id]) => !isKnown(id, places.get(id)));
    await inParallel(unknown, ([session, etag]) => this.#learnPlace({ scope, session }, { places, etag }), signal);
    places.keepOnly(new Set(etags.keys()), noted);
    places.isWhole = true;
  }

  async #learnPlace(
    ref: SessionRef,
    { places, etag }: { readonly places: SessionPlaces; readonly etag: string | undefined },
  ): Promise<void> {
    const summary = await this.#listed(ref, etag);
    if (summary) places.note(summary, this.#known.get(refKey(ref))?.settledEtag);
    else places.forget(ref.session);
  }

  #placesOf(scope: string): SessionPlaces {
    const places = this.#places.get(scope) ?? new SessionPlaces();
    this.#places.set(scope, places);
    return places;
  }

  async #listed(ref: SessionRef, etag: string | undefined): Promise<SessionSummary | undefined> {
    const log = this.#logs.of(ref);
    const known = this.#of(log);
    if (known.markEtag === undefined) {
      const isNewest = known.settledEtag !== undefined && (log.deps.blobs.exclusive || known.settledEtag === etag);
      if (isNewest) return known.projection?.summary;
      const found = await this.#stored(log);
      if (found?.stored.isSettled && known.markEtag === undefined) {
        known.projection = found.stored.projection;
        known.settledEtag = found.etag;
        return known.projection?.summary;
      }
    }
    try {
      return (await log.hold(() => this.fresh(log)))?.summary;
    } catch (error) {
      // A damaged log is reported to its readers; the list continues with what is known.
      if (!isAgentError(error, "SESSION_CORRUPT") && !isAgentError(error, "STORE_TOO_NEW")) throw error;
      return known.projection?.summary ?? unknownSummary(ref.session);
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

  #put({ deps, keys }: OpenLog, summary: StoredSummary, ifMatch?: string): ReturnType<OpenLog["deps"]["blobs"]["put"]> {
    const { bytes } = sealObject({ header: summary, lines: [] }, { key: keys.summary, before: "" });
    return deps.blobs.put(keys.summary, bytes, ifMatch === undefined ? {} : { ifMatch });
  }

  #of(log: OpenLog): KnownSession {
    const name = nameOf(log);
    const known = this.#known.get(name) ?? { projection: undefined, settledEtag: undefined, markEtag: undefined };
    // The last used entry is the last one. An evicted entry is read again, and marked again before a write.
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#sessionsMax && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

const nameOf = ({ ref }: OpenLog): string => refKey(ref);

function unknownSummary(id: string): SessionSummary {
  return { id, agent: "", status: "idle", createdAt: 0, updatedAt: 0, lastSeq: 0, messageCount: 0 };
}
