import type { SessionRef, SessionStore } from "@loopwright/core/ports";

const headName = "fold";
const waitMs = 60_000;
const lookMs = 20;

/** Whether the store has a snapshot of the session's fold. */
export async function hasSnapshot(store: SessionStore, ref: SessionRef): Promise<boolean> {
  return (await store.snapshots.get(ref, headName)) !== undefined;
}

/** Resolves once it has. @throws Error after a minute */
export async function snapshotWritten(store: SessionStore, ref: SessionRef): Promise<void> {
  const startedAt = performance.now();
  while (!(await hasSnapshot(store, ref))) {
    if (performance.now() - startedAt > waitMs) throw new Error("No snapshot was written.");
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
