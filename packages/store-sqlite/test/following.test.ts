import { join } from "node:path";
import { type AgentError, type AgentSession, createAgent, createSession, isAgentError, type SessionEvent } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { startStoreProcess } from "./store-process.ts";

const folder = freshFolder();
const ref = { scope: "local", session: "shared" };
let count = 0;

function open(path: string): SqliteStore {
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  return store;
}

function sessionIn(store: SqliteStore, text = "one"): AgentSession {
  const agent = createAgent({ name: "a", provider: scripted([{ text }, { text: "two" }]) });
  const session = createSession({ agent, store, id: ref.session });
  onTestFinished(() => session[Symbol.asyncDispose]());
  return session;
}

/** Resolves with the first event of a type, and with the loss of the session. */
function follow(
  session: AgentSession,
  type: SessionEvent["type"],
): { readonly notified: Promise<SessionEvent>; readonly lost: Promise<AgentError> } {
  const notified = Promise.withResolvers<SessionEvent>();
  const lost = Promise.withResolvers<AgentError>();
  const stop = session.follow({
    events(events) {
      const found = events.find((event) => event.type === type);
      if (found) notified.resolve(found);
    },
    lost: (error) => lost.resolve(error),
  });
  onTestFinished(stop);
  return { notified: notified.promise, lost: lost.promise };
}

/** Submits an input as its caller would: again under the same key while the store gives no confirmation in time, as on a machine with no time for it. */
async function submitConfirmed(session: AgentSession, input: string): Promise<void> {
  for (;;) {
    try {
      await session.submit(input, { idempotencyKey: input });
      return;
    } catch (error) {
      if (!isAgentError(error, "STORE_UNAVAILABLE")) throw error;
    }
  }
}

it("a follower of an idle session gets what another process appends to it", async () => {
  const path = join(folder, `${count++}.db`);
  const session = sessionIn(open(path));
  await session.open();
  const { notified } = follow(session, "session_changed");
  await session.ready();
  const other = startStoreProcess("append", path, "other:1");
  onTestFinished(() => other.kill());
  expect(await notified).toMatchObject({ type: "session_changed", title: "other:1 0" });
  expect(session.snapshot().title).toBeDefined();
});

it("a run that another store on the file submits reaches a follower of the session here", async () => {
  const path = join(folder, `${count++}.db`);
  const [here, there] = [sessionIn(open(path)), sessionIn(open(path), "from there")];
  await here.open();
  const { notified } = follow(here, "run_end");
  await here.ready();
  await submitConfirmed(there, "hi");
  expect(await notified).toMatchObject({ type: "run_end", status: "completed" });
  expect(here.snapshot().messages.at(-1)?.message).toMatchObject({ content: [{ text: "from there" }] });
});

it("a follower of a session is notified when it is removed, here or through another store on the file", async () => {
  for (const isHere of [true, false]) {
    const path = join(folder, `${count++}.db`);
    const store = open(path);
    const remover = isHere ? store : open(path);
    const session = sessionIn(store);
    await session.open();
    const { lost } = follow(session, "run_end");
    await session.ready();
    await remover.log.remove(ref);
    expect(await lost).toMatchObject({ code: "SESSION_CLOSED", message: "The session `shared` was removed." });
  }
});
