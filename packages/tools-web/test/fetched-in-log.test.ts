import { agentTool, createAgent, createSession, execute, resume, type Tool, textOf } from "@loopwright/core";
import { type ManualClock, manualClock, memoryStore, type ScriptedTurn, scripted, seededIds } from "@loopwright/core/memory";
import type { SessionLog, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { fetchedInLog, webFetch } from "../src/index.ts";
import { html, type TestServer, webServer } from "./web-server.ts";

type Call = NonNullable<ScriptedTurn["calls"]>[number];

async function countedServer(body = "<p>Hello.") {
  const asked: string[] = [];
  const server = await webServer((request, response) => {
    asked.push(request.url ?? "");
    html(response, `<title>A page</title>${body}`);
  });
  const fetching = (path: string, more: object = {}): Call => ({ name: "web_fetch", args: { url: `${server.origin}${path}`, ...more } });
  return { server, asked, fetching };
}

const toolOn = (store: SessionStore, server: TestServer, limits = {}): Tool =>
  webFetch({ privateOrigins: [server.origin], fetched: fetchedInLog(store), limits }) as Tool;

describe("a page that the run has fetched", () => {
  it("is not fetched again by another call of the run, which gets the earlier result", async () => {
    const { server, asked, fetching } = await countedServer();
    const store = memoryStore();
    const provider = scripted([{ calls: [fetching("/a")] }, { calls: [fetching("/a#part"), fetching("/b")] }, { text: "ok" }]);
    const session = createSession({ store, agent: createAgent({ name: "reader", provider, tools: [toolOn(store, server)] }) });
    await execute(session, "Read.").result();
    expect(asked.toSorted()).toEqual(["/a", "/b"]);
    const results = session.messages.filter(({ role }) => role === "tool_result");
    expect(results).toHaveLength(3);
    expect(results[1]).toMatchObject({ outcome: "ok", details: { url: `${server.origin}/a`, title: "A page" } });
    expect(textOf(results[1] as never)).toBe(textOf(results[0] as never));
  });

  it("is fetched anew by a later run, in another format, from another offset, and after a failure", async () => {
    const { server, asked, fetching } = await countedServer(`<p>${"word ".repeat(100)}`);
    const store = memoryStore();
    const provider = scripted([
      { calls: [fetching("/a"), fetching("/a", { format: "text" }), fetching("/a", { offset: 100 })] },
      { text: "ok" },
      { calls: [fetching("/a")] },
      { text: "ok" },
    ]);
    const tools = [toolOn(store, server, { textCharactersMax: 100 })];
    const session = createSession({ store, agent: createAgent({ name: "reader", provider, tools }) });
    await execute(session, "Read.").result();
    expect(asked).toHaveLength(3);
    await execute(session, "Read it once more.").result();
    expect(asked).toHaveLength(4);
  });

  it("is not fetched again by a child, by a child beside it, or by the session above them", async () => {
    const { server, asked, fetching } = await countedServer();
    const store = memoryStore();
    const tools = [toolOn(store, server)];
    const reader = (name: string, ...paths: readonly string[]) =>
      createAgent({ name, tools, provider: scripted([{ calls: paths.map((path) => fetching(path)) }, { text: "ok" }]) });
    const [first, second] = [reader("first", "/a", "/b"), reader("second", "/b", "/c")];
    const provider = scripted([
      { calls: [{ name: "first", args: { task: "Read." } }] },
      { calls: [{ name: "second", args: { task: "Read." } }] },
      { calls: ["/a", "/b", "/c", "/d"].map((path) => fetching(path)) },
      { text: "ok" },
    ]);
    const lead = createAgent({ name: "lead", provider, tools: [agentTool({ agent: first }), agentTool({ agent: second }), ...tools] });
    const session = createSession({ store, agent: lead });
    expect(await execute(session, "Read.").result()).toMatchObject({ status: "completed", text: "ok" });
    expect(asked.toSorted()).toEqual(["/a", "/b", "/c", "/d"]);
  });
});

const pages = ["/1", "/2", "/3", "/4", "/5"];

/** Readers below a lead, whose models read every page that no result of theirs has: they ask again for those that a crash cut off. */
function research(store: SessionStore, { server, fetching }: Awaited<ReturnType<typeof countedServer>>) {
  const reading = scripted((({ messages }: { readonly messages: readonly { role: string; outcome?: string; toolCallId?: string }[] }) => {
    const text = JSON.stringify(messages.filter(({ role, outcome }) => role === "tool_result" && outcome === "ok"));
    const left = pages.filter((path) => !text.includes(`${server.origin}${path}\\n`));
    return left.length === 0 ? { text: "ok" } : { calls: left.slice(0, 2).map((path) => fetching(path)) };
  }) as never);
  const reader = createAgent({ name: "reader", provider: reading, tools: [toolOn(store, server)] });
  const calls = [1, 2, 3].map((part) => ({ name: "reader", args: { task: `Part ${part}.` } }));
  const leading = scripted((({ messages }: { readonly messages: readonly { role: string }[] }) =>
    messages.some(({ role }) => role === "tool_result") ? { text: "done" } : { calls }) as never);
  return createAgent({ name: "lead", provider: leading, tools: [agentTool({ agent: reader })], limits: { parallelMax: 1 } });
}

/** The store as a process sees it that dies at its n-th append: from then on nothing is answered or done. */
function dying(store: SessionStore, at: number) {
  let appends = 0;
  const { log } = store;
  const never = new Promise<never>(() => {});
  const isDead = (): boolean => appends >= at;
  const alive =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      isDead() ? never : act(...args);
  const alone: SessionLog = {
    read: alive((ref, options) => log.read(ref, options)),
    head: alive((ref) => log.head(ref)),
    claim: alive((ref, claim) => log.claim(ref, claim)),
    renew: alive((ref, lease) => log.renew(ref, lease)),
    release: alive((ref, epoch) => log.release(ref, epoch)),
    remove: alive((ref) => log.remove(ref)),
    due: alive((options) => log.due(options)),
    setDue: alive((ref, options) => log.setDue(ref, options)),
    async append(ref, request) {
      appends += 1;
      return isDead() ? never : log.append(ref, request);
    },
  };
  return { store: { ...store, log: alone }, isDead };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits for the promise or for the death of the process; dates come meanwhile. */
async function over(promise: Promise<unknown>, { clock, isDead }: { readonly clock: ManualClock; isDead(): boolean }): Promise<void> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  promise.then(end, end);
  while (!isOver && !isDead()) {
    await turn();
    clock.advance(1);
  }
}

describe("a run whose process dies at any append", () => {
  it("fetches each page that its logs have once, and one that a crash cut off once more at the most", async () => {
    const deaths = Array.from({ length: 40 }, (_, point) => point + 2);
    let cuts = 0;
    for (const at of deaths) {
      const counted = await countedServer();
      const clock = manualClock();
      const store = memoryStore({ clock });
      const first = dying(store, at);
      const options = { id: "root", clock, agent: research(store, counted) };
      const dead = createSession({ ...options, store: first.store, ids: seededIds(1), node: "n1" });
      const begun = execute(dead, "Read.").result();
      begun.catch(() => {});
      await over(begun, { clock, isDead: first.isDead });
      clock.advance(21_000);
      const recorded = await recordedIn(store);
      const before = [...counted.asked];
      const session = await createSession({ ...options, store, ids: seededIds(2), node: "n2" }).ready();
      const result = (session.lastSeq > 0 ? resume(session) : execute(session, "Read.")).result();
      await over(result, { clock, isDead: () => false });
      expect(await result, `death at append ${at}`).toMatchObject({ status: "completed" });
      const after = counted.asked.slice(before.length);
      expect(
        after.filter((path) => recorded.has(path)),
        `death at append ${at}`,
      ).toEqual([]);
      expect(new Set(after).size).toBe(after.length);
      cuts += after.filter((path) => before.includes(path)).length;
    }
    // Without a page whose fetch was cut off the test would show nothing.
    expect(cuts).toBeGreaterThan(0);
  });
});

/** Paths of the pages whose content the logs have. */
async function recordedIn(store: SessionStore): Promise<ReadonlySet<string>> {
  const children = await store.index.list("local", { parent: "root" });
  const logs = await Promise.all(["root", ...children.map(({ id }) => id)].map((session) => store.log.read({ scope: "local", session })));
  const details = logs.flat().flatMap((fact) => (fact.type === "tool.finished" && fact.outcome === "ok" ? [fact.details] : []));
  return new Set(
    details.flatMap((value) => (value as { readonly url?: string } | undefined)?.url ?? []).map((url) => new URL(url).pathname),
  );
}
