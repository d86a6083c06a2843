/*
 * Owns: the draft of the text of the open lanes, for readers that join on another node when no ring holds it.
 * Does not own: the lanes (hub), the events that readers of a draft get (foreign lanes).
 * Why a timer and not a count of deltas: a timer adds no cost to a delta, and a call that ends soon writes no draft.
 */
import type { EphemeralBody, EphemeralEvent } from "../../loop/event.ts";
import type { Json } from "../../message/json.ts";
import type { Deps } from "../setup/deps.ts";
import { driverLimits } from "../setup/session-options.ts";

/** One for a session: all its open lanes, for tools run side by side. */
const draftName = "lane";

/** Keeps the draft of a session while lanes are open. A draft that cannot be kept harms nobody. */
export interface Drafts {
  /** Lanes are open here, or none is any more. */
  heed(isOpen: boolean): void;
}

/** `lanes` gives one snapshot for each open lane that has said something. */
export function createDrafts({ store, ref, clock }: Pick<Deps, "store" | "ref" | "clock">, lanes: () => readonly EphemeralEvent[]): Drafts {
  let cancel: (() => void) | undefined;
  let written = "";
  let isBusy = false;
  /** There is one, or one on its way. */
  let isKept = false;

  const remove = (): void => {
    isKept = false;
    void (async () => store.drafts.remove(ref, draftName))().catch(() => {});
  };
  const write = async (): Promise<void> => {
    const events = lanes();
    const mark = events.map(({ lane, n }) => `${lane}.${n}`).join();
    if (isBusy || mark === "" || mark === written || events.reduce((sum, event) => sum + bytesOf(event), 0) > driverLimits.draftBytes)
      return;
    written = mark;
    isBusy = isKept = true;
    // Snapshots are plain JSON; their type only says it with optional fields.
    await store.drafts.put(ref, draftName, { lanes: events } as { lanes: readonly EphemeralEvent[] } & Json).catch(() => {});
    isBusy = false;
    // Over meanwhile: the session may be removed by now, and nothing of it may stay behind.
    if (!cancel) remove();
  };
  const tick = (): void => {
    cancel = clock.after(driverLimits.draftMs, tick, { idle: true });
    void write().catch(() => {});
  };

  return {
    heed(isOpen) {
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

/** For a store that nobody else reads. */
export const noDrafts: Drafts = { heed() {} };

/** What the draft says of a lane; `undefined` where it is of others, or cannot be read. */
export async function readDraft({ store, ref }: Pick<Deps, "store" | "ref">, lane: number): Promise<EphemeralEvent | undefined> {
  try {
    const draft = (await store.drafts.get(ref, draftName)) as { readonly lanes?: readonly EphemeralEvent[] } | undefined;
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
