import { AgentError, type Message, type ModelChunk } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { answered, asking, collect } from "../test/collect.ts";
import { type CassetteEntry, cassetteFrom, cassetteOf } from "./cassette.ts";
import { offline } from "./offline.ts";
import { record } from "./record.ts";
import { replay } from "./replay.ts";

const key = "sk-proj-abcdefghijklmnop1234";

/** Entries through JSON, as a file would give them back. */
function saved(entries: readonly CassetteEntry[]) {
  return cassetteFrom(JSON.parse(JSON.stringify(cassetteOf(entries))));
}

describe("record and replay", () => {
  it("give back what was recorded, batch by batch, whatever the order of asking", async () => {
    const entries: CassetteEntry[] = [];
    const recording = record(offline({ pace: 0 }), (entry) => entries.push(entry));
    const live = [];
    for (const text of ["help", "think about tea", "long answer"]) live.push(await collect(recording, asking(text)));
    const player = replay(saved(entries));
    expect(player).toMatchObject({ name: "offline", defaultModel: "offline-demo" });
    expect(player.capabilities("x")).toEqual(recording.capabilities("x"));
    for (const at of [2, 0, 1]) {
      const { batches } = await collect(player, asking(["help", "think about tea", "long answer"][at] ?? ""));
      expect(batches).toEqual(live[at]?.batches);
    }
  });

  it("play equal requests in the order in which they were recorded, and each once", async () => {
    const entries: CassetteEntry[] = [];
    const recording = record(scripted([{ text: "one" }, { text: "two" }]), (entry) => entries.push(entry));
    await collect(recording, asking("a"));
    await collect(recording, asking("a"));
    const player = replay(saved(entries));
    expect((await collect(player, asking("a"))).text).toBe("one");
    expect((await collect(player, asking("a"))).text).toBe("two");
    expect((await collect(player, asking("a"))).error).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("2 of 2"),
    });
  });

  it("play in order whatever is asked, with that option", async () => {
    const entries: CassetteEntry[] = [];
    await collect(
      record(scripted([{ text: "one" }]), (entry) => entries.push(entry)),
      asking("a"),
    );
    expect((await collect(replay(saved(entries)), asking("b"))).error).toMatchObject({ message: expect.stringContaining("0 of 1") });
    expect((await collect(replay(saved(entries), { match: "order" }), asking("b"))).text).toBe("one");
  });

  it("keep a failure with the chunks before it", async () => {
    const error = new AgentError("MODEL_RATE_LIMITED", { message: `No more for ${key}.`, retryAfterMs: 1_500 });
    const entries: CassetteEntry[] = [];
    const live = await collect(
      record(scripted([{ text: "half", error }]), (entry) => entries.push(entry)),
      asking("a"),
    );
    expect(live.error).toBe(error);
    const played = await collect(replay(saved(entries)), asking("a"));
    expect(played.text).toBe("half");
    expect(played.error).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      message: "No more for <secret>.",
      retryable: true,
      retryAfterMs: 1_500,
    });
  });

  it("do not record a call that was aborted or left", async () => {
    const entries: CassetteEntry[] = [];
    const recording = record(scripted([{ text: "a", hang: true }, { text: "abc" }], { chunkSize: 1 }), (entry) => entries.push(entry));
    const controller = new AbortController();
    const reader = recording.stream(asking("a"), { signal: controller.signal, attempt: 1 })[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    controller.abort("stop");
    await expect(next).rejects.toBe("stop");
    for await (const _ of recording.stream(asking("b"), { signal: new AbortController().signal, attempt: 1 })) break;
    expect(entries).toEqual([]);
  });

  it("know a request again whose calls have other ids and keys", async () => {
    const renamed = (messages: readonly Message[]): readonly Message[] =>
      JSON.parse(JSON.stringify(messages).replaceAll("id_", "other_").replaceAll("r.1.", "zz.7.")) as readonly Message[];
    const messages = answered("time?", [
      { name: "clock", output: "12" },
      { name: "clock", output: "13" },
    ]);
    const swapped = [messages[0], messages[1], messages[3], messages[2]].filter((message) => message !== undefined);
    const entries: CassetteEntry[] = [];
    await collect(
      record(scripted([{ text: "noon" }]), (entry) => entries.push(entry)),
      asking("", { messages }),
    );
    expect((await collect(replay(saved(entries)), asking("", { messages: renamed(messages) }))).text).toBe("noon");
    expect((await collect(replay(saved(entries)), asking("", { messages: swapped }))).error).toBeDefined();
  });

  it("leave no secret in the cassette, wherever it stands and however it is cut", async () => {
    const own = "my own secret of no known form";
    const chunks: ModelChunk[][] = [
      [{ type: "text", index: 0, delta: "The key is sk-pro" }],
      [{ type: "call-start", index: 1, id: "c", name: "login" }],
      [{ type: "call-args", index: 1, delta: '{"user":"me","pass' }],
      [{ type: "text", index: 0, delta: "j-abcdefghij" }],
      [{ type: "text", index: 0, delta: `klmnop1234, and ${own.slice(0, 9)}` }],
      [{ type: "call-args", index: 1, delta: 'word":"hunt' }],
      [{ type: "call-args", index: 1, delta: 'er2","n":1}' }],
      [{ type: "text", index: 0, delta: `${own.slice(9)}.` }],
    ];
    const request = asking(`My key is ${key}.`, {
      system: [{ text: own, source: "agent", cache: "stable" }],
      vendorOptions: { headers: { authorization: "Basic xyz", accept: "*" } },
    });
    const entries: CassetteEntry[] = [];
    const live = await collect(
      record(scripted([{ chunks }]), (entry) => entries.push(entry), { secrets: [own] }),
      request,
    );
    expect(live.text).toBe(`The key is ${key}, and ${own}.`);
    const cassette = saved(entries);
    const text = JSON.stringify(cassette);
    for (const piece of [key, "sk-pro", "klmnop", own, own.slice(0, 9), own.slice(9), "hunt", "er2", "Basic xyz"])
      expect(text).not.toContain(piece);
    const played = await collect(replay(cassette, { secrets: [own] }), request);
    expect(played.text).toBe("The key is <secret>, and <secret>.");
    expect(played.calls).toEqual([{ name: "login", args: { user: "me", password: "<secret>", n: 1 } }]);
    expect(entries[0]?.request).toMatchObject({
      system: [{ text: "<secret>", source: "agent", cache: "stable" }],
      vendorOptions: { headers: { authorization: "<secret>", accept: "*" } },
    });
  });

  it("fit a request whose key has changed since", async () => {
    const entries: CassetteEntry[] = [];
    await collect(
      record(scripted([{ text: "ok" }]), (entry) => entries.push(entry)),
      asking(`Use ${key}`),
    );
    expect((await collect(replay(saved(entries)), asking("Use sk-other-9876543210abc"))).text).toBe("ok");
  });

  it.each<[string, unknown, string]>([
    ["no cassette", { entries: [] }, "not a cassette"],
    ["another version", { format: "loopwright-cassette", version: 2, entries: [] }, "version 2"],
    ["a broken entry", { format: "loopwright-cassette", version: 1, entries: [{ digest: "x" }] }, "Entry 0"],
  ])("refuse %s", (_, value, message) => {
    expect(() => cassetteFrom(value)).toThrow(message);
  });

  it("refuse an empty cassette and a provider that is not in it", () => {
    expect(() => replay(cassetteOf([]))).toThrow("empty");
    expect(() => replay(cassetteOf([]), { provider: "openai" })).toThrow("no call of provider `openai`");
  });
});
