import { createAgent } from "@loopwright/core";
import { memoryChannel, memoryStore, scripted, seededRandom } from "@loopwright/core/memory";
import type { EventChannel } from "@loopwright/core/ports";
import { compareCursors } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { turnOfLoop, until } from "../../host/test/turn-of-loop.ts";
import { paced, wordsOf } from "./busy-agent.ts";
import { flawsOf, historyOf } from "./busy-cuts.ts";
import { keepBusy } from "./busy-people.ts";
import { openBusyScene } from "./busy-scene.ts";
import { openCommandedScene, quiet, watchStream } from "./commanded-scene.ts";
import { connectInProcess, textOfAnswer } from "./connection.ts";
import type { Frame } from "./frame-parser.ts";
import { plainDialect } from "./plain-dialect.ts";
import { serve } from "./serve.ts";
import { openStreamDoor } from "./stream-door.ts";
import { createStrictReader } from "./strict-reader.ts";

const path = "/api/notifications";
const asUser = (user: string, scope: string): { readonly Authorization: string } => ({ Authorization: `Bearer ${user}@${scope}` });
const dataOf = (frame: Frame): { readonly [field: string]: unknown } => JSON.parse(frame.data) as { readonly [field: string]: unknown };

describe("a notifications stream", () => {
  it("carries several sessions in full over connections that are cut, each resumed by its own cursor", async () => {
    let cuts = 0;
    let wholeTexts = 0;
    for (let seed = 1; seed <= 6; seed++) {
      const { door, store, random, isTight, close } = openBusyScene(seed);
      const connect = connectInProcess(door.fetch);
      const sessions = ["one", "two", "three"];
      for (const id of [...sessions, "other"]) await door.open(id);
      const readers = sessions.map((sessionId) => createStrictReader({ isShared: true, sessionId, isSlow: isTight }));
      const hinted = new Set<string>();
      let ends: (() => boolean) | undefined;
      const read = async (): Promise<void> => {
        while (!ends?.()) {
          const named = readers.map(({ cursor }, at) => `session=${sessions[at]}${cursor === undefined ? "" : `@${cursor}`}`);
          const cutAfter = ends ? Number.POSITIVE_INFINITY : Math.floor(random() * random() * 30_000);
          const connection = await connect({ path: `${path}?${named.join("&")}`, cutAfter });
          if (connection?.status !== 200) throw new Error(`The answer was ${connection?.status}.`);
          const takes = readers.map((reader) => reader.connection());
          for (let bytes = await connection.read(); bytes; bytes = await connection.read()) {
            const frames = takes.map((take) => take(bytes))[0] ?? [];
            for (const frame of frames) if (frame.event === "session_hint") hinted.add(String(dataOf(frame)["sessionId"]));
            if (ends?.()) await connection.cut();
          }
          cuts += 1;
          await turnOfLoop();
        }
      };
      const reading = read();
      const all = [...sessions, "other"];
      await Promise.all(all.map((sessionId) => keepBusy({ door, sessionId, random, deeds: 8 })));
      const histories = await Promise.all(sessions.map((id) => historyOf(store, id)));
      ends = () =>
        histories.every((history, at) => {
          const [last, mine] = [history.at(-1), readers[at]?.durable.at(-1)];
          return !last || (mine !== undefined && compareCursors(mine, last) >= 0);
        });
      await door.use("other", ({ session }) => session.change({ title: `Seen ${seed}` }));
      // What comes last goes through, so that no connection stays open in silence.
      for (const id of sessions) await door.use(id, ({ session }) => session.change({ title: `Done ${seed}` }));
      await reading;
      const notified = await Promise.all(sessions.map((id) => historyOf(store, id)));
      for (const [at, reader] of readers.entries()) {
        const upTo = reader.durable.length;
        expect(upTo).toBeGreaterThanOrEqual(histories[at]?.length ?? 0);
        expect(flawsOf(reader, notified[at]?.slice(0, upTo) ?? []), `session ${sessions[at]}, seed ${seed}`).toEqual([]);
        wholeTexts += reader.counts.wholeTexts;
      }
      expect([...hinted]).toEqual(["other"]);
      await close();
    }
    expect(cuts).toBeGreaterThan(120);
    expect(wholeTexts).toBeGreaterThan(60);
  });

  it("A10: carries notifications of the product beside the events of sessions", async () => {
    const scene = await openCommandedScene();
    await scene.door.open("quiet");
    const watching = await scene.watch({ path: `${path}?session=s` }, { isShared: true, sessionId: "s" });
    await scene.say("Hello");
    scene.model.say("Hi\nthere");
    scene.model.end();
    scene.door.notify("local", { type: "job_progress", data: { job: 7, text: "half\r\n\r\ndata: forged", share: 0.5 } });
    scene.door.notify("local", { type: "refresh" });
    scene.door.notify("local", { type: "system_message", to: "somebody-else", data: "not yours" });
    await scene.door.use("quiet", ({ session }) => session.change({ title: "Renamed" }));
    await watching.got("session_hint");
    await watching.got("run_end");
    const notified = watching.frames.filter(({ event }) => event === "notification").map(dataOf);
    expect(notified).toEqual([
      {
        type: "notification",
        notification: { type: "job_progress", data: { job: 7, text: "half\r\n\r\ndata: forged", share: 0.5 } },
      },
      { type: "notification", notification: { type: "refresh" } },
    ]);
    expect(watching.frames.filter(({ event }) => event === "session_hint").map(dataOf)).toEqual([
      { type: "session_hint", sessionId: "quiet", seq: 2 },
    ]);
    expect(watching.frames.every(({ id }) => id === undefined)).toBe(true);
    expect(flawsOf(watching.reader, await scene.history())).toEqual([]);
    expect(watching.reader.counts.wholeTexts).toBe(1);
    await watching.connection.cut();
    expect(scene.door.context.streams.open).toBe(0);
  });

  it("announces sessions that are created and forked, and those of a request that is repeated once", async () => {
    const { connect, watch, exchange } = await openCommandedScene();
    await exchange("Hello", "Hi.");
    const watching = await watch({ path }, { isShared: true });
    const post = async (to: string, body: object, key: string): Promise<number | undefined> =>
      (await connect({ path: to, method: "POST", body, headers: { "Idempotency-Key": key } }))?.status;
    expect(await post("/api/sessions", { id: "made", title: "Made" }, "one")).toBe(201);
    await watching.got("session_hint");
    expect(await post("/api/sessions/s/fork", { id: "forked" }, "two")).toBe(201);
    expect(await post("/api/sessions", { id: "made", title: "Made" }, "one")).toBe(200);
    await watching.got("session_hint", 2);
    await quiet();
    expect(watching.frames.filter(({ event }) => event === "session_hint").map(dataOf)).toEqual([
      { type: "session_hint", sessionId: "made", seq: 1 },
      { type: "session_hint", sessionId: "forked", seq: 1 },
    ]);
    await watching.connection.cut();
  });

  it("passes on that the channel between nodes may have lost something", async () => {
    const channel = memoryChannel();
    let lose: (() => void) | undefined;
    const lossy: EventChannel = {
      ...channel,
      subscribeScope(scope, listener) {
        lose = listener.gap;
        return channel.subscribeScope(scope, listener);
      },
    };
    const { watch, door } = await openCommandedScene({ channel: lossy });
    const watching = await watch({ path }, { isShared: true });
    lose?.();
    await watching.got("hints_missed");
    await watching.connection.cut();
    await door.close();
  });

  it("is refused for sessions that are not there, cursors that are none, and too many of either", async () => {
    const { door, connect } = await openCommandedScene();
    const status = async (query: string, headers: { readonly [name: string]: string } = {}): Promise<number | undefined> =>
      (await connect({ path: `${path}?${query}`, headers }))?.status;
    const odd = ["a:b", "*", "{x}", "s\nt", "S", "../s", "s%00", "é", ""];
    for (const id of odd) expect([id, await status(`session=${encodeURIComponent(id)}`)]).toEqual([id, 404]);
    expect(await status("session=s&session=never-was")).toBe(404);
    expect(await status("session=s", asUser("eve", "elsewhere"))).toBe(404);
    expect(await status("session=s@garbage")).toBe(400);
    expect(await status("session=s@999.0")).toBe(409);
    expect(await status(Array.from({ length: 21 }, () => "session=s").join("&"))).toBe(400);
    expect(await status("dialect=klingon")).toBe(400);
    expect(door.context.streams.open).toBe(0);
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
  });

  it("A16: sends a scope no events of another one, although their sessions have the same id", async () => {
    const store = memoryStore();
    const random = seededRandom(5);
    const agent = createAgent({
      name: "talker",
      provider: paced(
        scripted(() => ({ text: `${wordsOf(random, 8)}`, chunkSize: 4 })),
        random,
      ),
    });
    const door = openStreamDoor({ agents: [agent], store, dialects: [plainDialect] });
    const connect = connectInProcess(door.fetch);
    const scopes = ["north", "south"];
    for (const scope of scopes) await door.open("same", { user: "ann", scope });
    const watch = (scope: string, query: string) =>
      watchStream(connect, { path: `${path}?${query}`, headers: asUser("ann", scope) }, { isShared: true });
    const [full, hints, dialect] = await Promise.all([watch("north", "session=same"), watch("north", ""), watch("north", "dialect=plain")]);
    for (let times = 0; times < 20; times++) {
      for (const scope of scopes)
        await connect({
          ...{ path: "/api/sessions/same/messages", method: "POST", headers: asUser("ann", scope) },
          body: { message: `a secret of ${scope} ${times}` },
        });
      for (const topic of ["south", "north/same", "*", "nor*", "{north}", "north\n"])
        door.notify(topic, { type: "secret", data: "of south" });
    }
    const rests = (scope: string): Promise<boolean> => door.use("same", ({ session }) => session.isResting, scope);
    await until(async () => (await rests("north")) && (await rests("south")), "both rest");
    await quiet();
    const north = await historyOf(store, "same", "north");
    expect(flawsOf(full.reader, north)).toEqual([]);
    for (const { frames } of [full, hints, dialect]) {
      expect(frames.length).toBeGreaterThan(20);
      expect(frames.filter(({ data }) => data.includes("south"))).toEqual([]);
    }
    expect(Math.max(...hints.frames.map((frame) => Number(dataOf(frame)["seq"])))).toBe(north.at(-1)?.seq);
    await door.close();
  });
});

describe("a dialect of the server", () => {
  const dialects = [plainDialect];
  const plain = `${path}?dialect=plain`;

  it("translates events of every session and notifications, with a reader for each stream", async () => {
    const scene = await openCommandedScene({ dialects });
    const [one, other] = [await scene.watch({ path: plain }, { isShared: true }), await scene.watch({ path: plain }, { isShared: true })];
    await scene.exchange("Hello", "Hi.");
    scene.door.notify("local", { type: "refresh" });
    await one.got("plain_refresh");
    await other.got("plain_refresh");
    const numbers = one.frames.map((frame) => dataOf(frame)["number"]);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(one.frames.map(({ event }) => event)).toEqual(expect.arrayContaining(["plain_run_start", "plain_text_delta", "plain_run_end"]));
    expect(other.frames).toEqual(one.frames);
    expect(one.frames.every((frame) => frame.id === undefined)).toBe(true);
    await one.connection.cut();
    await other.connection.cut();
  });

  it("receives which run is open in a session", async () => {
    const scene = await openCommandedScene({ dialects });
    const { runId } = await scene.say("Tell me");
    scene.model.say("Once ");
    await quiet();
    const watching = await scene.watch({ path: plain }, { isShared: true });
    scene.model.say("upon");
    await watching.got("plain_text_delta");
    expect(watching.frames.map(dataOf)).toEqual([{ number: 1, session: "s", openRun: runId }]);
    await watching.connection.cut();
  });

  it("cannot begin a frame of its own by the name of an event", async () => {
    const scene = await openCommandedScene({ dialects });
    const watching = await scene.watch({ path: plain }, { isShared: true });
    scene.door.notify("local", { type: "bad\nevent: forged" });
    scene.door.notify("local", { type: "refresh" });
    await watching.got("plain_refresh");
    expect(watching.frames.map(({ event }) => event)).toEqual(["plain_refresh"]);
    await watching.connection.cut();
  });

  it("is refused under a name that another one has, and under one that no query can name", () => {
    const agents = [createAgent({ name: "a", provider: scripted([]) })];
    for (const names of [["plain", "plain"], [""], ["A b"], ["__proto__"]]) {
      const given = names.map((name) => ({ ...plainDialect, name }));
      expect(() => serve({ agents, store: memoryStore(), dialects: given })).toThrow("a name that cannot be used");
    }
  });

  it("is read alone: no other method is answered", async () => {
    const { door } = await openCommandedScene({ dialects });
    const answer = await connectInProcess(door.fetch)({ path: plain, method: "PUT" });
    expect(answer ? [answer.status, await textOfAnswer(answer)] : []).toEqual([405, expect.stringContaining("METHOD_NOT_ALLOWED")]);
  });
});
