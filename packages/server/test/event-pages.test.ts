import type { DurableEvent } from "@loopwright/core/protocol";
import type { ServerLimits } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { scriptedAgent, type TestServer, testServer } from "./test-server.ts";

interface Page {
  readonly events: readonly DurableEvent[];
  readonly cursor?: string;
  readonly next?: string;
}

const json = { headers: { Accept: "application/json" } };

/** Two runs of one session, and the id of each. */
async function twoRuns(limits: Partial<ServerLimits> = {}): Promise<{ readonly server: TestServer; readonly runIds: readonly string[] }> {
  const server = testServer({ agents: [scriptedAgent()], limits });
  const runIds: string[] = [];
  for (const input of ["One", "Two"]) {
    const answer = await server.send("/api/agent/execute", { json: { sessionId: "a", agent: "helper", input } });
    runIds.push(/"execute_complete".*"runId":"(\w+)"/.exec(await answer.text())?.[1] ?? "");
  }
  return { server, runIds };
}

async function pagesOf({ ask }: TestServer, path: string, limit?: number): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let after = ""; ; ) {
    const { body } = await ask<Page>(`${path}?after=${after}${limit === undefined ? "" : `&limit=${limit}`}`, json);
    pages.push(body);
    if (body.next === undefined) return pages;
    after = body.next;
  }
}

describe("recorded events as JSON", () => {
  it("come in pages of as many as are asked for, which together are the whole", async () => {
    const { server, runIds } = await twoRuns();
    const { body: whole } = await server.ask<Page>("/api/sessions/a/events", json);
    expect(whole.next).toBeUndefined();
    for (const [path, events] of [
      ["/api/sessions/a/events", whole.events],
      ...runIds.map((id) => [`/api/sessions/a/runs/${id}`, whole.events.filter(({ runId }) => runId === id)] as const),
    ] as const) {
      const pages = await pagesOf(server, path, 3);
      expect(pages.flatMap((page) => page.events)).toEqual(events);
      expect(pages.map((page) => page.events.length)).toEqual(
        [...Array(Math.floor(events.length / 3)).fill(3), events.length % 3].filter(Boolean),
      );
    }
  });

  it("end a page by its bytes too, and a page has at least one event", async () => {
    const { server, runIds } = await twoRuns({ pageBytes: 10 });
    for (const path of ["/api/sessions/a/events", `/api/sessions/a/runs/${runIds[0]}`])
      for (const { events } of await pagesOf(server, path)) expect(events).toHaveLength(1);
  });

  it("refuse an invalid limit and an unreadable cursor, and answer an unknown run with not found", async () => {
    const { server, runIds } = await twoRuns();
    for (const path of ["/api/sessions/a/events", `/api/sessions/a/runs/${runIds[0]}`]) {
      for (const limit of [0, 1_001, "many"]) expect(await server.refused(`${path}?limit=${limit}`, json)).toMatchObject({ status: 400 });
      expect(await server.refused(`${path}?after=soon`, json)).toMatchObject({ status: 400, code: "CURSOR_INVALID" });
    }
    expect(await server.refused("/api/sessions/a/runs/none")).toMatchObject({ status: 404, code: "RUN_NOT_FOUND" });
  });
});
