import { createSession, execute } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { sessionId } from "../contenders/contender.ts";
import { benchAgent } from "./bench-agent.ts";
import type { OpenScene } from "./durable-scenes.ts";
import { writeHistory } from "./history-facts.ts";
import { hasSnapshot, snapshotWritten } from "./snapshot-written.ts";

const ref = { scope: "local", session: sessionId };

/** Writes the session, and has its snapshot written where it is to have one. */
export async function prepareOpening({ facts, hasSnapshot: isKept }: OpenScene, store: SessionStore): Promise<void> {
  await writeHistory(store, ref, facts);
  if (!isKept) return;
  const session = createSession({ agent: benchAgent(), store, id: sessionId });
  const { status, error } = await execute(session, "Please say something more.").result();
  if (status !== "completed") throw error ?? new Error(status);
  await snapshotWritten(store, ref);
  await session[Symbol.asyncDispose]();
}

/** How long it takes until the session can be used, in milliseconds, and the CPU of that, all threads. */
export async function measureOpening(
  { facts, hasSnapshot: isKept }: OpenScene,
  store: SessionStore,
): Promise<Readonly<Record<string, readonly number[]>>> {
  // A store that was never asked would be measured too.
  await store.log.read({ scope: "local", session: "other" });
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const session = await createSession({ agent: benchAgent(), store, id: sessionId, snapshotCheckShare: 0 }).ready();
  const openMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  if (session.messages.length < facts / 3) throw new Error(`A session of ${facts} facts has ${session.messages.length} messages.`);
  if (isKept !== (await hasSnapshot(store, ref))) throw new Error("The session has the wrong start.");
  return { openMs: [openMs], cpuMs: [(user + system) / 1_000] };
}
