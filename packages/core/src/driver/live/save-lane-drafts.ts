/*
 * Owns: the draft of a session: what its open lanes have streamed, for readers that join on another node if the channel does not have it any more.
 * Does not own: the lanes (event-hub), the events that readers of a draft get (remote-lanes).
 * Why a timer and not a count of deltas: a timer costs nothing per delta, and a call that ends soon writes no draft.
 */
import type { EphemeralBody, EphemeralEvent } from "../../loop/event.ts";
import type { Json } from "../../message/json.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";

/** A session has one draft for all its open lanes, for example the lanes of tools that run in parallel. */
const draftName = "lane";

/** Keeps the draft of a session while lanes are open. A failed write is ignored: the draft is a cache. */
export interface Drafts {
  /** `isOpen`: this handle owns the session, and lanes are open. Otherwise the draft is removed. */
  keep(isOpen: boolean): void;
}

/** `hub` gives one snapshot for each open lane that has streamed something. */
export function createDrafts(
  { store, ref, clock }: Pick<Deps, "store" | "ref" | "clock">,
  hub: { snapshots(): readonly EphemeralEvent[] },
): Drafts {
  let cancel: (() => void) | undefined;
  let written = "";
  let isBusy = false;
  /** True if a draft is stored or being written. */
  let isKept = false;

  const remove = (): void => {
    isKept = false;
    void (async () => store.snapshots.remove(ref, draftName))().catch(() => {});
  };
  const write = async (): Promise<void> => {
    const events = hub.snapshots();
    const mark = events.map(({ lane, n }) => `${lane}.${n}`).join();
    if (isBusy || mark === "" || mark === written || events.reduce((sum, event) => sum + bytesOf(event), 0) > driverLimits.draftBytes)
      return;
    written = mark;
    isBusy = isKept = true;
    // Snapshots are plain JSON, but their type has optional fields, which the type `Json` does not allow.
    await store.snapshots.put(ref, draftName, { lanes: events } as { lanes: readonly EphemeralEvent[] } & Json).catch(() => {});
    isBusy = false;
    // If the lanes were closed during the write, the session may have been removed. Then its draft must not stay in the store.
    if (!cancel) remove();
  };
  const tick = (): void => {
    cancel = clock.after(driverLimits.draftMs, tick, { idle: true });
    void write().catch(() => {});
  };

  return {
    keep(isOpen) {
      if (isOpen) {
        cancel ??= clock.after(driverLimits.draftMs, tick, { idle: true });
        return;
      }
      cancel?.();
      cancel = undefined;
      written = "";
      if (isKept && !isBusy) remove();
    },
  };
}

/** For a private store, which no other node reads. */
export const noDrafts: Drafts = { keep() {} };

/** The snapshot of a lane in the draft; `undefined` if the draft does not have the lane, or cannot be read. */
export async function readDraft({ store, ref }: Pick<Deps, "store" | "ref">, lane: number): Promise<EphemeralEvent | undefined> {
  try {
    const draft = (await store.snapshots.get(ref, draftName)) as { readonly lanes?: readonly EphemeralEvent[] } | undefined;
    return draft?.lanes?.find((event) => event.lane === lane);
  } catch {
    return undefined;
  }
}

function bytesOf(event: EphemeralBody): number {
  if (event.type === "tool_execution_snapshot") return event.output.length * 2;
  if (event.type !== "message_snapshot") return 0;
  const calls = (event.calls ?? []).reduce((sum, { argsText }) => sum + argsText.length * 2, 0);
  return event.content.reduce((sum, part) => sum + ("text" in part ? part.text.length * 2 : 64), calls);
}
