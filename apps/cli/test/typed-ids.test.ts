import { createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, silentLogger } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { offline } from "@loopwright/providers-scripted";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { findSession, localScope } from "../src/compose/kept-sessions.ts";
import { clientOf, sessionOf } from "../src/remote/remote-place.ts";
import { remoteShelf } from "../src/shelf/remote-shelf.ts";

const agent = createAgent({ name: "assistant", provider: offline({ pace: 0 }) });
const ids = ["aa-one", "aa-one-more", "ab-two", ...Array.from({ length: 120 }, (_, at) => `c${String(at).padStart(3, "0")}`)];

async function filled(): Promise<SessionStore> {
  const store = memoryStore();
  for (const id of ids) await execute(createSession({ agent, store, id }), "hello").result();
  return store;
}

async function server(store: SessionStore): Promise<string> {
  const served = createServer({ runtime: createRuntime({ agents: [agent], store, logger: silentLogger }) });
  const listening = await listen(served);
  onTestFinished(async () => {
    await served.close();
    await listening.close();
  });
  return listening.url;
}

/** Looked at alone. */
const looked = filled();

/** How an id that was typed is found in the store, and on a server. */
const doors: readonly (readonly [string, () => Promise<(typed: string) => Promise<string>>])[] = [
  [
    "in a store",
    async () => {
      const store = await looked;
      return (typed) => findSession(store, typed);
    },
  ],
  [
    "on a server",
    async () => {
      const client = clientOf({ url: await server(await looked), token: undefined });
      return async (typed) => (await sessionOf(client, typed)).sessionId;
    },
  ],
];

describe.each(doors)("an id that is typed %s", (_, open) => {
  test("may be the beginning of one that no other shares, and a whole id is itself", async () => {
    const find = await open();
    expect(await find("ab")).toBe("ab-two");
    expect(await find("aa-one")).toBe("aa-one");
    expect(await find("aa-one-")).toBe("aa-one-more");
    // On the second page of the list.
    expect(await find("c000")).toBe("c000");
  });

  test("is refused with all that it may mean where it begins several, and with the id where it begins none", async () => {
    const find = await open();
    await expect(find("aa-")).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "`aa-` begins the ids of 2 sessions: `aa-one-more`, `aa-one`.",
    });
    await expect(find("c0")).rejects.toMatchObject({
      message: expect.stringMatching(/ids of 100 sessions: `c099`, .*`c092` and 92 more\.$/),
    });
    await expect(find("b")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND", message: expect.stringContaining("`b`") });
    await expect(find("")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

test("on a server a session is deleted by the beginning of its id, and several by none", async () => {
  const store = await filled();
  const shelf = remoteShelf({ url: await server(store), token: undefined });
  expect(await shelf.remove("ab")).toBe("ab-two");
  await expect(shelf.remove("aa")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  const kept = (await store.index.list(localScope, { limit: 200 })).map(({ id }) => id);
  expect(kept).not.toContain("ab-two");
  expect(kept).toHaveLength(ids.length - 1);
});
