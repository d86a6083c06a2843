/*
 * A summary is a projection of a log, kept in an object of its own. It records whether it is settled: then the log has not grown since. Before a
 * process writes to a settled session it marks the summary as not settled, and settles it again when the session rests. So a list need look into
 * no log but those that are being written, and those whose writer has died.
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
  /** The version of the object that the projection was read from, or written to, as settled. */
  settledEtag: string | undefined;
  /** The version of our own mark; the log may be written. */
  markEtag: string | undefined;
}

interface StoredSummary {
  readonly isSettled: boolean;
  /** So that two marks are never the same version. */
  readonly nonce: string;
  readonly projection?: SessionProjection;
}

interface Page {
  readonly limit: number;
  readonly before?: Place | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The summaries of sessions, as objects and as this process knows them. */
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
    // A mark that may be there counts as one: it is settled under its own version or not at all.
    if (outcome.type !== "full") known.markEtag = outcome.type === "written" ? outcome.etag : "";
  }

  /** Takes facts in that this process has written. Gives what is known after them, if that is all. */
  add(log: OpenLog, facts: readonly Fact[]): SessionProjection | undefined {
    const known = this.#of(log);
    const [first, last] = [facts[0], facts.at(-1)];
    if (last) this.#placesOf(log.ref.scope).note({ updatedAt: last.at, id: log.ref.session });
    if (!first || first.seq !== (known.projection?.summary.lastSeq ?? 0) + 1) return undefined;
    known.projection = projectSession(log.ref.session, known.projection, facts);
    return known.projection;
  }

  /** The projection of the log as it is now. @throws AgentError SESSION_CORRUPT, STORE_* */
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

  /** Makes a summary from its log alone; true when there is something to sum up. @throws AgentError STORE_* */
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

  /** So many summaries of a scope, the session changed last first, from behind a place on. */
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

  /** Learns where sessions stand: of all once where this process is the only writer, else of those whose summary others have written since. */
  async #learnPlaces(scope: string, places: SessionPlaces, signal: AbortSignal | undefined): Promise<void> {
    const { blobs } = this.#logs.deps;
    if (places.isWhole && blobs.exclusive) return;
    const prefix = summariesOf(scope);
    const noted = places.notes;
    const etags = new Map<string, string | undefined>();
    for await (const { key, etag } of listAll(blobs, prefix)) {
      signal?.throwIfAborted();
      // A folder in place of a summary names its session, too.
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
      // What can be made anew is not missed.
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
    // The one used last comes last. What is forgotten is read again, and marked again before it is written.
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
