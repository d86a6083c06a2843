import type { Fact } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { AppendRequest, Clock, SessionLog, SessionStore } from "@loopwright/core/ports";
import { ConversationViews, type ViewPlace } from "./conversation-views.ts";

export interface ConversationViewsOptions {
  /** Where the views are written. The store does not close it. */
  readonly place: ViewPlace;
  /** Times the views. Default: the clock of the process. */
  readonly clock?: Clock;
}

/**
 * The store, which also writes a `ConversationView` of each session for other programs: when the session rests, at most once a second. The view is
 * deleted with its session. Each process that appends needs it. What fails is written when the session rests again; appends never wait for a view.
 * @example withConversationViews(blobStore({ blobs }), { place: blobs })
 */
export function withConversationViews(store: SessionStore, { place, clock = systemClock }: ConversationViewsOptions): SessionStore {
  const views = new ConversationViews({ store, place, clock });
  const added: Pick<SessionLog, "append" | "remove"> = {
    async append(ref, request) {
      const outcome = await store.log.append(ref, request);
      if (outcome.type === "ok" || outcome.type === "dup") views.appended(ref, outcome.type === "ok" ? factsOf(request) : []);
      return outcome;
    },
    async remove(ref) {
      // First of all: a removal that is cut short after the log has recorded it is finished by the store, which does not know of the view.
      await views.remove(ref);
      await store.log.remove(ref);
      await views.remove(ref);
    },
  };
  return {
    log: overridden(store.log, added),
    index: store.index,
    blobs: store.blobs,
    snapshots: store.snapshots,
    ...(store.probe ? { probe: () => store.probe?.() ?? Promise.resolve() } : {}),
    ...(store.acceptRestored ? { acceptRestored: () => store.acceptRestored?.() ?? Promise.resolve(false) } : {}),
    async close() {
      await views.close();
      await store.close();
    },
  };
}

const factsOf = ({ facts, expectedSeq }: AppendRequest): readonly Fact[] =>
  facts.map((fact, at) => ({ ...fact, seq: expectedSeq + 1 + at }) as Fact);

/** The log with some methods of its own; the others belong to the log itself. */
function overridden(log: SessionLog, added: Partial<SessionLog>): SessionLog {
  return new Proxy(log, {
    get(target, name) {
      const member: unknown = Reflect.get(name in added ? added : target, name);
      return typeof member === "function" && !(name in added) ? member.bind(target) : member;
    },
  });
}
