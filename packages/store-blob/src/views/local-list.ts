import { isId, type SessionSummary } from "@loopwright/core/ports";
import type { ConditionalBlobs } from "../conditional-blobs.ts";
import { inParallel } from "../in-parallel.ts";
import { listAll } from "../list-all.ts";
import { summariesOf } from "../object-keys.ts";
import type { ScopePlaces, SessionPlaces } from "./session-places.ts";
import type { Page, SessionSummaries } from "./session-summaries.ts";

export interface LocalListDeps {
  readonly blobs: ConditionalBlobs;
  readonly summaries: SessionSummaries;
  readonly places: ScopePlaces;
}

/** A page of the summaries of a scope where this process is the only writer: it knows the order of all sessions after it has read each summary once. */
export async function localList(
  deps: LocalListDeps,
  scope: string,
  { limit, before, parent, signal }: Page,
): Promise<readonly SessionSummary[]> {
  const places = deps.places.of(scope);
  if (!places.isWhole) await learnPlaces(deps, scope, { places, signal });
  const found: SessionSummary[] = [];
  for (let after = before; found.length < limit; ) {
    const some = places.newestFirst(parent, { limit: limit - found.length, before: after });
    const looked = await inParallel(some, ({ id }) => deps.summaries.lookUp({ scope, session: id }), signal);
    found.push(...looked.flatMap(({ summary }) => summary ?? []));
    after = some.at(-1);
    if (!after) break;
  }
  return found;
}

async function learnPlaces(
  { blobs, summaries }: LocalListDeps,
  scope: string,
  { places, signal }: { readonly places: SessionPlaces; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const prefix = summariesOf(scope);
  const ids = new Set<string>();
  for await (const { key } of listAll(blobs, prefix)) {
    signal?.throwIfAborted();
    // A folder in place of a summary object still names its session.
    const [session = ""] = key.slice(prefix.length).split("/");
    if (isId(session) && !places.has(session)) ids.add(session);
  }
  const learn = async (session: string): Promise<void> => {
    const { summary } = await summaries.lookUp({ scope, session });
    if (summary) places.note(summary);
    else places.forget(session);
  };
  await inParallel([...ids], learn, signal);
  places.isWhole = true;
}
