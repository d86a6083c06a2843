import { manualClock, memoryStore, silentLogger } from "@loopwright/core/memory";
import type { LogHead, SessionLog } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import type { SessionHost } from "../sessions/session-host.ts";
import { runHintedSessions } from "./run-hinted-sessions.ts";

const noRetention = (): Promise<never> => Promise.reject(new Error("There is no session."));
const host: SessionHost = {
  node: "here",
  open: noRetention,
  create: noRetention,
  remove: noRetention,
  removeExpired: noRetention,
  letGo() {},
  onLoad() {},
  loadedSession: () => undefined,
  runOf: () => undefined,
  loaded: 0,
  running: 0,
  close: async () => ({ ran: 0, left: [] }),
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A worker with two places, and what it asked for until it is answered. */
function workerWithRoomForTwo() {
  const store = memoryStore();
  const asked: string[] = [];
  const undone: string[] = [];
  const answers = new Map<string, () => void>();
  const head: SessionLog["head"] = ({ session }) => {
    asked.push(session);
    return new Promise<LogHead>((resolve) => void answers.set(session, () => resolve({ lastSeq: session === "full" ? 1 : 0, epoch: 0 })));
  };
  const limits = { workerSessions: 2, reopenMs: 1, reopenMaxMs: 1 };
  const worker = runHintedSessions({
    ...{ host, limits, clock: manualClock(), logger: silentLogger },
    store: { ...store, log: { ...store.log, head } },
    undone: async ({ session }) => void undone.push(session),
  });
  return { worker, asked, undone, answers };
}

it("gives free room to the next call that waits", async () => {
  const { worker, asked, answers } = workerWithRoomForTwo();
  // Both places are taken; the third is notified of twice, and the fourth waits behind it.
  for (const session of ["first", "second", "third", "third", "fourth"]) void worker.take({ scope: "local", session });
  for (const session of ["first", "second"]) {
    answers.get(session)?.();
    await turn();
  }
  expect(asked).toEqual(["first", "second", "third", "fourth"]);
});

it("gives back the sessions that it has not begun when it stops: those that wait for room, cannot be opened any more, or are offered later", async () => {
  const { worker, undone, answers } = workerWithRoomForTwo();
  const takes = ["empty", "full", "waiting"].map((session) => worker.take({ scope: "local", session }));
  worker.stop();
  for (const session of ["empty", "full"]) answers.get(session)?.();
  await Promise.all([...takes, worker.take({ scope: "local", session: "late" })]);
  expect(undone.sort()).toEqual(["full", "late", "waiting"]);
});
