import type { SessionHit, SessionSummary } from "@loopwright/core/protocol";
import { AgentError } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { createSessionList, type SessionList, type SessionListSource } from "./session-list.ts";

const summary = (id: string, updatedAt: number): SessionSummary => ({
  id,
  agent: "demo",
  status: "idle",
  title: `Title of ${id}`,
  createdAt: 0,
  updatedAt,
  lastSeq: 1,
  messageCount: 1,
});

interface Scene {
  readonly list: SessionList;
  readonly server: SessionSummary[];
  readonly asked: string[];
  /** Runs what waits for later, then lets answers arrive. */
  pass(): Promise<void>;
}

function scene(source: Partial<SessionListSource> = {}): Scene {
  const server: SessionSummary[] = [summary("b", 20), summary("a", 10)];
  const asked: string[] = [];
  let waiting: (() => void)[] = [];
  const list = createSessionList(
    {
      async list({ before } = {}) {
        asked.push(`list ${before ?? ""}`.trim());
        return before === undefined ? { sessions: server.slice(0, 50) } : { sessions: [] };
      },
      async search(query) {
        asked.push(`search ${query}`);
        return { hits: server.map((session): SessionHit => ({ session, excerpt: query })), ...(query === "common" ? { more: true } : {}) };
      },
      change: () => Promise.reject(new Error("nobody renames here")),
      remove: async () => undefined,
      ...source,
    },
    (act) => {
      waiting.push(act);
    },
  );
  const pass = async (): Promise<void> => {
    const due = waiting;
    waiting = [];
    for (const act of due) act();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return { list, server, asked, pass };
}

it("a list that is no longer shown makes no refresh that was due, and one that is shown again does", async () => {
  const { list, asked, pass } = scene();
  list.refresh();
  await pass();
  list.refresh();
  list.leave();
  await pass();
  expect(asked).toEqual(["list"]);
  list.refresh();
  await pass();
  expect(asked).toEqual(["list", "list"]);
});

it("the first page comes at once, and a crowd of hints costs one request", async () => {
  const { list, server, asked, pass } = scene();
  list.refresh();
  await pass();
  expect(list.read()).toMatchObject({ phase: "ready", next: undefined });
  server.unshift(summary("c", 30));
  for (let hints = 0; hints < 20; hints++) list.refresh();
  await pass();
  expect(list.read().sessions.map(({ id }) => id)).toEqual(["c", "b", "a"]);
  expect(asked).toEqual(["list", "list"]);
});

it("a hint that comes while the list is read has it read once more", async () => {
  const gates = [Promise.withResolvers<void>()];
  let reads = 0;
  const { list, pass } = scene({
    async list() {
      reads += 1;
      await gates[reads - 1]?.promise;
      return { sessions: [summary(`s${reads}`, reads)] };
    },
  });
  list.refresh();
  list.refresh();
  gates[0]?.resolve();
  await pass();
  await pass();
  expect(reads).toBe(2);
  expect(list.read().sessions.map(({ id }) => id)).toEqual(["s2"]);
});

it("older pages stay where they are when the newest is read again", async () => {
  let isFirst = true;
  const { list, pass } = scene({
    async list({ before } = {}) {
      if (before !== undefined) return { sessions: [summary("old", 1)] };
      const sessions = isFirst ? [summary("b", 20), summary("a", 10)] : [summary("c", 30), summary("b", 20)];
      isFirst = false;
      return { sessions, next: "cursor" };
    },
  });
  list.refresh();
  await pass();
  await list.showMore();
  expect(list.read().sessions.map(({ id }) => id)).toEqual(["b", "a", "old"]);
  list.refresh();
  await pass();
  expect(list.read().sessions.map(({ id }) => id)).toEqual(["c", "b", "a", "old"]);
  expect(list.read().next).toBeUndefined();
});

it("a change that the server refuses is taken back and reported", async () => {
  const refused = new AgentError("FORBIDDEN", { message: "not yours" });
  const { list, pass } = scene({ change: () => Promise.reject(refused), remove: () => Promise.reject(refused) });
  list.refresh();
  await pass();
  const renamed = list.rename("a", "Mine");
  expect(list.read().sessions[1]?.title).toBe("Mine");
  await expect(renamed).rejects.toBe(refused);
  expect(list.read().sessions[1]?.title).toBe("Title of a");
  const removed = list.remove("a");
  expect(list.read().sessions).toHaveLength(1);
  await expect(removed).rejects.toBe(refused);
  expect(list.read().sessions).toHaveLength(2);
});

it("a search asks once for the last words, and empty words end it", async () => {
  const { list, asked, pass } = scene();
  list.search("t");
  list.search("time ");
  await pass();
  expect(asked).toEqual(["search time"]);
  expect([list.read().hits?.length, list.read().hasMoreHits]).toEqual([2, false]);
  list.search("common");
  await pass();
  expect(list.read().hasMoreHits).toBe(true);
  list.search("");
  expect(list.read().hits).toBeUndefined();
});

it("a list that cannot be read shows the reason", async () => {
  const { list, pass } = scene({ list: () => Promise.reject(new AgentError("SERVER_UNREACHABLE", { message: "gone" })) });
  list.refresh();
  await pass();
  expect(list.read()).toMatchObject({ phase: "failed", error: { code: "SERVER_UNREACHABLE" } });
});
