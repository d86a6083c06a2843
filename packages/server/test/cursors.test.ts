import { seededRandom } from "@loopwright/core/memory";
import { compareCursors, cursorAfter, type DurableEvent, encodeCursor, type SessionSnapshot } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { flawsOf } from "./busy-cuts.ts";
import { type CommandedScene, openCommandedScene, quiet, type Watching } from "./commanded-scene.ts";
import { type Connection, textOfAnswer } from "./connection.ts";

const path = "/api/sessions/s/events";
const json = { Accept: "application/json" };
const nothingWrong = (watching: Watching, history: readonly DurableEvent[]): void => expect(flawsOf(watching.reader, history)).toEqual([]);

async function codeOf(connection: Connection | undefined): Promise<string> {
  const { code } = JSON.parse(connection ? await textOfAnswer(connection) : "{}") as { readonly code: string };
  return `${connection?.status} ${code}`;
}

async function restedScene(): Promise<CommandedScene & { readonly tail: string; readonly events: readonly DurableEvent[] }> {
  const scene = await openCommandedScene();
  await scene.exchange("Good morning", "Grüß Gott 世界");
  await scene.exchange("And now?", "Nothing.");
  const events = await scene.history();
  return { ...scene, events, tail: encodeCursor(events.at(-1) ?? cursorAfter(0)) };
}

describe("a cursor that the server cannot have given", () => {
  const garbage = [
    ...["0", "-1.0", "1", "1.", ".1", "1.0.0", "01.0", "1.00", "1,0", "1.0 2.0", " 1.0", "1.-1", "1e3.0", "0x1.0", "NaN", "null"],
    ...[
      "9007199254740993.0",
      "1.9007199254740993",
      `${"9".repeat(400)}.0`,
      "1".repeat(10_000),
      "١.٠",
      "1．0",
      "🙂",
      "%00",
      "1.0\n2.0",
      "__proto__",
    ],
  ];

  it.each(garbage.map((text) => [text.slice(0, 40), text]))("is refused with 400: %s", async (_, text) => {
    const { connect, door } = await restedScene();
    expect(await codeOf(await connect({ path: `${path}?after=${encodeURIComponent(text)}` }))).toBe("400 CURSOR_INVALID");
    expect(await codeOf(await connect({ path: `${path}?after=${encodeURIComponent(text)}`, headers: json }))).toBe("400 CURSOR_INVALID");
    if (/^[\x21-\x7e]+$/.test(text))
      expect(await codeOf(await connect({ path, headers: { "Last-Event-ID": text } }))).toBe("400 CURSOR_INVALID");
    expect(door.context.streams.open).toBe(0);
  });

  it("is refused when the header comes twice, or the query does", async () => {
    const { door } = await restedScene();
    const headers = new Headers([
      ["Last-Event-ID", "1.0"],
      ["Last-Event-ID", "2.0"],
    ]);
    expect((await door.fetch(new Request(`http://127.0.0.1${path}`, { headers }))).status).toBe(400);
    expect((await door.fetch(new Request(`http://127.0.0.1${path}?after=1.0&after=2.0`))).status).toBe(400);
  });

  it("never does more harm than a refusal, whatever its characters", async () => {
    const { connect, door } = await restedScene();
    const lastSeq = await door.use("s", ({ session }) => session.lastSeq);
    const random = seededRandom(7);
    const alphabet = ["1.0", "3.1", "0", "1", "2", "9", ".", "-", "e", " ", "\t", "é", "\u0000", "🙂", "/", "'", "%", "{"];
    const counts = new Map<number, number>();
    for (let times = 0; times < 1_000; times++) {
      const text = Array.from({ length: 1 + Math.floor(random() * 5) }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
      const answer = await connect({ path: `${path}?after=${encodeURIComponent(text)}`, headers: json });
      counts.set(answer?.status ?? 0, (counts.get(answer?.status ?? 0) ?? 0) + 1);
      const isOne = /^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$/.test(text);
      const isAhead = isOne && Number.parseInt(text, 10) > lastSeq;
      expect([answer?.status, text]).toEqual([isAhead ? 409 : isOne ? 200 : 400, text]);
    }
    expect(counts.get(400)).toBeGreaterThan(500);
    expect(counts.get(200) ?? 0).toBeGreaterThan(0);
    expect(door.context.host.loaded).toBe(1);
  });
});

describe("a cursor", () => {
  it("ahead of the log, as one of a longer session is, is answered with 409", async () => {
    const { connect, events } = await restedScene();
    const ahead = `${(events.at(-1)?.seq ?? 0) + 10}.0`;
    expect(await codeOf(await connect({ path: `${path}?after=${ahead}` }))).toBe("409 HISTORY_LOST");
    expect(await codeOf(await connect({ path, headers: { "Last-Event-ID": "9007199254740991.0" } }))).toBe("409 HISTORY_LOST");
    expect(await codeOf(await connect({ path: `${path}?after=${ahead}`, headers: json }))).toBe("409 HISTORY_LOST");
    const execute = { path: "/api/agent/execute", method: "POST", body: { sessionId: "s", input: "x" } } as const;
    expect(await codeOf(await connect({ ...execute, headers: { "Last-Event-ID": ahead } }))).toBe("409 HISTORY_LOST");
  });

  it("of every event gives what follows it and nothing else", async () => {
    const { connect, events } = await restedScene();
    for (const event of events) {
      const answer = await connect({ path: `${path}?after=${encodeCursor(event)}`, headers: json });
      const { events: notified } = JSON.parse(answer ? await textOfAnswer(answer) : "") as { readonly events: readonly DurableEvent[] };
      expect(notified).toEqual(events.filter((other) => compareCursors(other, event) > 0));
    }
    expect(new Set(events.map(({ seq }) => seq)).size).toBeLessThan(events.length);
  });

  it("in the header wins over the one in the query, even over one that is none", async () => {
    const { watch, events } = await restedScene();
    const third = events[2] ?? cursorAfter(0);
    for (const after of ["1.0", "garbage", ""]) {
      const watching = await watch({ path: `${path}?after=${after}`, headers: { "Last-Event-ID": encodeCursor(third) } }, { after: third });
      await watching.got("rest");
      expect(watching.reader.durable).toEqual(events.slice(3));
      await watching.connection.cut();
    }
  });

  it("that is empty means from the start", async () => {
    const { watch, events } = await restedScene();
    const watching = await watch({ path, headers: { "Last-Event-ID": "" } });
    await watching.ended();
    nothingWrong(watching, events);
  });
});

describe("a session that is not the caller's", () => {
  it("is answered as one that does not exist, whatever the cursor", async () => {
    const { door, connect, tail } = await restedScene();
    const strange = { Authorization: "Bearer eve@elsewhere", "X-Request-Id": "same" };
    for (const query of ["", `?after=${tail}`, "?after=garbage", "?from=now", "?after=99999.0"]) {
      const [theirs, unknown] = await Promise.all(
        ["s", "never-was"].map((id) => connect({ path: `/api/sessions/${id}/events${query}`, headers: strange })),
      );
      expect(theirs?.status).toBe(404);
      expect(unknown?.status).toBe(404);
      const texts = [theirs ? await textOfAnswer(theirs) : "", unknown ? await textOfAnswer(unknown) : ""];
      expect(texts[0]?.replaceAll("`s`", "`never-was`")).toBe(texts[1]);
      expect([...(theirs?.headers ?? [])].map(([name]) => name)).toEqual([...(unknown?.headers ?? [])].map(([name]) => name));
    }
    expect(door.context.streams.open).toBe(0);
  });
});

describe("the end of a stream", () => {
  it("comes after `rest`, and coming back with the last id gives 204", async () => {
    const { watch, connect, tail, events } = await restedScene();
    const watching = await watch({ path });
    await watching.ended();
    expect(watching.frames.at(-1)?.event).toBe("rest");
    nothingWrong(watching, events);
    const answer = await connect({ path, headers: { "Last-Event-ID": tail } });
    expect(answer?.status).toBe(204);
    expect(await answer?.read()).toBeUndefined();
  });

  it("is not sent to a reader that waits with `?after=`: later events follow on the same connection", async () => {
    const { watch, exchange, tail, history } = await restedScene();
    const events = await history();
    const watching = await watch({ path: `${path}?after=${tail}` }, { after: events.at(-1) ?? cursorAfter(0) });
    await watching.got("rest");
    await exchange("More", "Here.");
    await watching.got("rest", 2);
    expect(watching.isOver).toBe(false);
    expect(watching.reader.flaws).toEqual([]);
    expect(watching.reader.durable).toEqual((await history()).slice(events.length));
    expect(watching.reader.counts.wholeTexts).toBe(1);
    await watching.connection.cut();
  });

  it("is no 204 while a run is open, though nothing new is there", async () => {
    const { watch, say, model, rests, history } = await restedScene();
    await say("Go on");
    model.say("Half ");
    await quiet();
    const events = await history();
    const last = events.at(-1) ?? cursorAfter(0);
    const watching = await watch({ path, headers: { "Last-Event-ID": encodeCursor(last) } });
    await watching.got("message_snapshot").catch(() => {});
    model.say("done.");
    model.end();
    await rests();
    await watching.ended();
    expect(watching.reader.durable).toEqual((await history()).slice(events.length));
  });

  it("is a 204 too where the run waits for its client", async () => {
    const scene = await openCommandedScene({ tools: [{ name: "ask", description: "Asks.", parameters: { type: "object" } }] });
    await scene.say("Ask me");
    scene.model.call("ask", {});
    scene.model.end();
    const watching = await scene.watch({ path });
    await watching.ended();
    expect(watching.frames.map(({ event }) => event).slice(-2)).toEqual(["awaiting_tool_execution", "rest"]);
    const answer = await scene.connect({ path, headers: { "Last-Event-ID": watching.reader.cursor ?? "" } });
    expect(answer?.status).toBe(204);
  });
});

describe("`?from=now`", () => {
  it("gives the state, then a snapshot of the open answer, then what follows", async () => {
    const { watch, say, model, rests, history } = await restedScene();
    await say("Tell me");
    model.say("Once ");
    await quiet();
    const before = await history();
    const watching = await watch({ path: `${path}?from=now` });
    await watching.got("message_snapshot");
    expect(watching.frames.map(({ event }) => event)).toEqual(["session_snapshot", "message_snapshot"]);
    const { snapshot } = JSON.parse(watching.frames[0]?.data ?? "") as { readonly snapshot: SessionSnapshot };
    expect(snapshot.messages).toHaveLength(5);
    expect(snapshot.run?.answering).toBe(before.at(-1)?.seq);
    model.say("upon.");
    model.end();
    await rests();
    await watching.got("rest");
    expect(watching.reader.flaws).toEqual([]);
    expect(watching.reader.counts.wholeTexts).toBe(1);
    expect(watching.reader.durable).toEqual((await history()).slice(before.length));
    await watching.connection.cut();
  });

  it("gives the state alone while the answer is empty, and waits", async () => {
    const { watch } = await openCommandedScene();
    const watching = await watch({ path: `${path}?from=now` });
    await watching.got("rest");
    expect(watching.frames.map(({ event }) => event)).toEqual(["session_snapshot", "rest"]);
    expect(watching.isOver).toBe(false);
    await watching.connection.cut();
  });
});

describe("the tail as JSON", () => {
  it("has what there is after the cursor, does not wait, and takes no stream", async () => {
    const { connect, door, say, events, tail } = await restedScene();
    await say("Still open");
    const answer = await connect({ path: `${path}?after=${tail}`, headers: json });
    expect(answer?.headers.get("Content-Type")).toContain("application/json");
    const body = JSON.parse(answer ? await textOfAnswer(answer) : "") as {
      readonly events: readonly DurableEvent[];
      readonly cursor: string;
    };
    expect(body.events[0]?.type).toBe("input_accepted");
    expect(body.cursor).toBe(encodeCursor(body.events.at(-1) ?? cursorAfter(0)));
    expect(door.context.streams.open).toBe(0);
    const none = await connect({ path: `${path}?after=${body.cursor}`, headers: json });
    expect(JSON.parse(none ? await textOfAnswer(none) : "")).toEqual({ events: [], cursor: body.cursor });
    expect(events.length).toBeGreaterThan(0);
  });
});

describe("a reader that connects", () => {
  it("a hundred times without reading anything finds its place as it was", async () => {
    const { door, connect, watch, events } = await restedScene();
    const place = events[3] ?? cursorAfter(0);
    for (let times = 0; times < 100; times++) await (await connect({ path, headers: { "Last-Event-ID": encodeCursor(place) } }))?.cut();
    expect(door.context.streams.open).toBe(0);
    const watching = await watch({ path, headers: { "Last-Event-ID": encodeCursor(place) } }, { after: place });
    await watching.ended();
    expect(watching.reader.durable).toEqual(events.slice(4));
  });

  it("between the input and the first word sees the run, and then every word", async () => {
    const { watch, say, model, rests, history } = await restedScene();
    await say("Think first");
    const watching = await watch({ path });
    await watching.got("message_start", 6);
    expect(watching.reader.durable.at(-1)).toMatchObject({ type: "message_start", role: "assistant" });
    for (const word of ["One", " two", " three 世界"]) model.say(word);
    model.end();
    await rests();
    await watching.ended();
    nothingWrong(watching, await history());
    expect(watching.reader.counts).toMatchObject({ wholeTexts: 1, snapshots: 0 });
  });

  it("while the log has the end of an answer that the session has not read yet gets both in order", async () => {
    let acknowledge = (): void => {};
    const scene = await openCommandedScene({
      limits: { recentEvents: 1 },
      store: (store) => ({
        ...store,
        log: {
          ...store.log,
          async append(ref, request) {
            const outcome = await store.log.append(ref, request);
            if (request.facts.some(({ type }) => type === "model.finished"))
              await new Promise<void>((resolve) => {
                acknowledge = resolve;
              });
            return outcome;
          },
        },
      }),
    });
    await scene.say("Tell me");
    scene.model.say("Once upon a time.");
    scene.model.end();
    await quiet();
    const watching = await scene.watch({ path });
    await watching.got("message_snapshot");
    expect((await scene.history()).at(-1)?.type).toBe("run_end");
    expect(watching.reader.durable.at(-1)).toMatchObject({ type: "message_start", role: "assistant" });
    acknowledge();
    await watching.ended();
    nothingWrong(watching, await scene.history());
    expect(watching.reader.counts.wholeTexts).toBe(1);
  });

  it.each(["model.finished", "run.finished", "input.accepted", "model.started"])(
    "in the very moment of %s has no gap and nothing twice",
    async (fact) => {
      const opened: Promise<Watching>[] = [];
      let join = (): void => {};
      const scene = await openCommandedScene({
        store: (store) => ({
          ...store,
          log: {
            ...store.log,
            async append(ref, request) {
              const isOurs = request.facts.some(({ type }) => type === fact);
              if (isOurs) join();
              const outcome = await store.log.append(ref, request);
              if (isOurs) join();
              return outcome;
            },
          },
        }),
      });
      join = () => {
        for (const ask of [{ path }, { path: `${path}?after=1.65535` }, { path: `${path}?from=now` }]) opened.push(scene.watch(ask));
      };
      const stop = await scene.door.use("s", ({ session }) => session.subscribe(() => join()));
      await scene.exchange("Now", "At once.");
      stop();
      const late = await scene.watch({ path });
      await late.ended();
      const history = await scene.history();
      const watchings = await Promise.all(opened);
      for (const watching of watchings) {
        await watching.got("rest");
        nothingWrong(watching, history);
        await watching.connection.cut();
      }
      expect(watchings.length).toBeGreaterThan(15);
      expect(scene.door.context.streams.open).toBe(0);
    },
  );
});
