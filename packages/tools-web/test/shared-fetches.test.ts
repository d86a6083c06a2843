import { agentTool, createAgent, createSession, execute, type Tool, textOf } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { type AskedPage, type EarlierPage, fetchedInLog, webFetch } from "../src/index.ts";
import { html, type TestServer, webServer } from "./web-server.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A web whose answers wait until they are let go. */
async function heldServer() {
  const asked: string[] = [];
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await webServer(async (request, response) => {
    asked.push(request.url ?? "");
    await held;
    if (request.url === "/broken") response.writeHead(500).end();
    else html(response, "<title>A page</title><p>Hello.");
  });
  return { server, asked, letGo };
}

/** Starts of fetches that the logs of the children of `root` have. */
async function startsIn(store: SessionStore): Promise<number> {
  const children = await store.index.list("local", { parent: "root" });
  const logs = await Promise.all(children.map(({ id }) => store.log.read({ scope: "local", session: id })));
  return logs.flat().filter(({ type }) => type === "tool.started").length;
}

/** A lead whose readers fetch the same page at the same time, each with a tool of its own where `toolOf` makes one. */
function readersOf(paths: readonly string[], { server, toolOf }: { readonly server: TestServer; toolOf(): Tool }) {
  const readers = paths.map((path, index) =>
    createAgent({
      name: `reader${index}`,
      tools: [toolOf()],
      provider: scripted([{ calls: [{ name: "web_fetch", args: { url: `${server.origin}${path}` } }] }, { text: "ok" }]),
    }),
  );
  const calls = readers.map(({ name }) => ({ name, args: { task: "Read." } }));
  return createAgent({
    name: "lead",
    provider: scripted([{ calls }, { text: "done" }]),
    tools: readers.map((agent) => agentTool({ agent })),
  });
}

async function resultsIn(store: SessionStore): Promise<readonly string[]> {
  const children = await store.index.list("local", { parent: "root" });
  const logs = await Promise.all(children.map(({ id }) => store.log.read({ scope: "local", session: id })));
  return logs.flat().flatMap((fact) => (fact.type === "tool.finished" ? [`${fact.outcome}: ${JSON.stringify(fact.output)}`] : []));
}

describe("researchers of a process that ask for one page at the same moment", () => {
  it.each([
    ["/a", "ok"],
    ["/broken", "error"],
  ])("share one fetch of %s, and its result", async (path, outcome) => {
    const { server, asked, letGo } = await heldServer();
    const store = memoryStore();
    const tool = webFetch({ privateOrigins: [server.origin], fetched: fetchedInLog(store) }) as Tool;
    const agent = readersOf([path, path, path, `${path}#part`], { server, toolOf: () => tool });
    const result = execute(createSession({ store, agent, id: "root" }), "Read.").result();
    await expect.poll(() => startsIn(store), { timeout: 60_000 }).toBe(4);
    await expect.poll(() => asked.length, { timeout: 60_000 }).toBe(1);
    letGo();
    expect(await result).toMatchObject({ status: "completed", text: "done" });
    expect(asked).toEqual([path]);
    const results = await resultsIn(store);
    expect(results).toHaveLength(4);
    expect(new Set(results).size).toBe(1);
    expect(results[0]?.startsWith(outcome)).toBe(true);
  });
});

/** A store as processes see it of which each runs one session. */
function onNodesOfTheirOwn(store: SessionStore, ready: () => Promise<void>): SessionStore {
  const { log, index } = store;
  return {
    ...store,
    index: {
      ...index,
      list: async (...args) => {
        await ready();
        return index.list(...args);
      },
    } as SessionStore["index"],
    log: {
      ...log,
      read: (...args) => log.read(...args),
      head: async (ref) => ({ ...(await log.head(ref)), lease: { node: `node of ${ref.session}`, remainingMs: 1_000 } }),
    } as SessionStore["log"],
  };
}

/** Plays the run; the time of the waiting calls passes meanwhile. */
async function playOverNodes(paths: readonly string[], waitMs?: number) {
  const { server, asked, letGo } = await heldServer();
  const store = memoryStore();
  const clock = manualClock();
  // Each call looks once all of them are recorded.
  const ready = async (): Promise<void> => {
    while ((await startsIn(store)) < paths.length) await turn();
  };
  const seen = onNodesOfTheirOwn(store, ready);
  const toolOf = (): Tool =>
    webFetch({
      privateOrigins: [server.origin],
      fetched: fetchedInLog(seen, { clock, ...(waitMs === undefined ? {} : { waitMs }) }),
    }) as Tool;
  let isOver = false;
  const session = createSession({ store, agent: readersOf(paths, { server, toolOf }), id: "root" });
  const result = execute(session, "Read.")
    .result()
    .finally(() => {
      isOver = true;
    });
  await expect.poll(() => asked.length, { timeout: 60_000 }).toBeGreaterThan(0);
  return {
    ...{ asked, letGo, store, clock, result },
    async finish() {
      while (!isOver) {
        await turn();
        clock.advance(50);
      }
    },
  };
}

describe("researchers on several nodes that ask for one page at the same moment", () => {
  it("fetch it once when each call was recorded before the others looked", async () => {
    const { asked, letGo, store, clock, result, finish } = await playOverNodes(["/a", "/a", "/a"]);
    for (let round = 0; round < 50; round++) {
      await turn();
      clock.advance(100);
    }
    letGo();
    await finish();
    expect(await result).toMatchObject({ status: "completed", text: "done" });
    expect(asked).toEqual(["/a"]);
    const results = await resultsIn(store);
    expect(results).toHaveLength(3);
    expect(new Set(results).size).toBe(1);
  });

  it("fetch it one after another when the fetches fail, and by themselves after `waitMs`", async () => {
    const failing = await playOverNodes(["/broken", "/broken"]);
    failing.letGo();
    await failing.finish();
    expect(await failing.result).toMatchObject({ status: "completed" });
    expect(failing.asked).toEqual(["/broken", "/broken"]);

    const slow = await playOverNodes(["/a", "/a"], 1_000);
    for (let round = 0; slow.asked.length < 2 && round < 100_000; round++) {
      await turn();
      slow.clock.advance(50);
    }
    expect(slow.asked).toEqual(["/a", "/a"]);
    slow.letGo();
    await slow.finish();
    expect(await slow.result).toMatchObject({ status: "completed" });
  });
});

const page: AskedPage = { url: "https://example.com/", format: "markdown", offset: 0 };
const place = (call: number) => ({ scope: "local", session: "s", callKey: `run.1.${call}` });
const answer = (text: string): EarlierPage => ({ output: [{ type: "text", text }] });

describe("calls that share a fetch", () => {
  it("begin it anew when the call that fetches is aborted, and end at once when they are aborted themselves", async () => {
    const pages = fetchedInLog(memoryStore(), { clock: manualClock() });
    const aborts = [0, 1, 2].map(() => new AbortController());
    const begun: number[] = [];
    const read = (call: number): Promise<EarlierPage> =>
      pages.read({ place: place(call), page, signal: (aborts[call] as AbortController).signal }, () => {
        begun.push(call);
        const { signal } = aborts[call] as AbortController;
        if (call === 1) return Promise.resolve(answer("by 1"));
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      });
    const first = read(0);
    await expect.poll(() => begun).toEqual([0]);
    const [second, third] = [read(1), read(2)];
    await turn();
    aborts[2]?.abort(new Error("stopped"));
    await expect(third).rejects.toThrow("stopped");
    aborts[0]?.abort(new Error("stopped, too"));
    await expect(first).rejects.toThrow("stopped, too");
    expect(textOf({ role: "tool_result", content: (await second).output } as never)).toBe("by 1");
    expect(begun).toEqual([0, 1]);
  });

  it("have the page until the log has it, at most 64 pages for a minute", async () => {
    const clock = manualClock();
    const pages = fetchedInLog(memoryStore(), { clock });
    const { signal } = new AbortController();
    let fetches = 0;
    const read = (url: string): Promise<EarlierPage> =>
      pages.read({ place: place(0), page: { ...page, url }, signal }, async () => {
        fetches += 1;
        return answer(url);
      });
    for (let index = 0; index < 65; index++) await read(`https://example.com/${index}`);
    await read("https://example.com/64");
    await read("https://example.com/1");
    expect(fetches).toBe(65);
    await read("https://example.com/0");
    expect(fetches).toBe(66);
    clock.advance(60_000);
    await read("https://example.com/64");
    expect(fetches).toBe(67);
  });
});
