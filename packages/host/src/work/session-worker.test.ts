import { manualClock, memoryStore, silentLogger } from "@loopwright/core/memory";
import type { LogHead, SessionLog } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import type { SessionHost } from "../sessions/session-host.ts";
import { createSessionWorker } from "./session-worker.ts";

const nobody = (): Promise<never> => Promise.reject(new Error("There is no session."));
const host: SessionHost = {
  node: "here",
  open: nobody,
  create: nobody,
  remove: nobody,
  letGo() {},
  onLoad() {},
  loadedSession: () => undefined,
  runOf: () => undefined,
  loaded: 0,
  running: 0,
  close: async () => [],
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("gives room that nobody needs any more to the next who waits", async () => {
  const store = memoryStore();
  const asked: string[] = [];
  const answers = new Map<string, () => void>();
  const head: SessionLog["head"] = ({ session }) => {
    asked.push(session);
    return new Promise<LogHead>((resolve) => void answers.set(session, () => resolve({ lastSeq: 0, epoch: 0 })));
  };
  const limits = { workerSessions: 2, reopenMs: 1, reopenMaxMs: 1 };
  const worker = createSessionWorker({
    ...{ host, limits, clock: manualClock(), logger: silentLogger },
    store: { ...store, log: { ...store.log, head } },
  });
  // Both places are taken; the third is told of twice, and the fourth waits behind it.
  for (const session of ["first", "second", "third", "third", "fourth"]) void worker.take({ scope: "local", session });
  for (const session of ["first", "second"]) {
    answers.get(session)?.();
    await turn();
  }
  expect(asked).toEqual(["first", "second", "third", "fourth"]);
});
