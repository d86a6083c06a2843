import { memoryStore } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { openStreamDoor } from "./stream-door.ts";
import { scriptedAgent } from "./test-server.ts";

interface Frame {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: { readonly type: string; readonly delta?: string };
}

const framesOf = (text: string): readonly Frame[] =>
  [...text.matchAll(/(?:id: (.*)\n)?event: (.*)\ndata: (.*)\n\n/g)].map(([, id, name = "", data = ""]) => ({
    id,
    name,
    data: JSON.parse(data),
  }));
const textIn = (frames: readonly Frame[]): string => frames.map(({ name, data }) => (name === "text_delta" ? data.delta : "")).join("");

function scene() {
  const agent = scriptedAgent([{ text: "Half a th", error: "MODEL_OVERLOADED" }, { text: "One. " }, { text: "Two." }]);
  const door = openStreamDoor({ agents: [agent], store: memoryStore() });
  const url = "http://localhost/api";
  const say = async (input: string): Promise<string> => {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ sessionId: "a", agent: "helper", input });
    return (await door.fetch(new Request(`${url}/agent/execute`, { method: "POST", headers, body }))).text();
  };
  const read = async (query: string, headers: Record<string, string> = {}): Promise<readonly Frame[]> =>
    framesOf(await (await door.fetch(new Request(`${url}/sessions/a/events${query}`, { headers }))).text());
  return { door, say, read };
}

describe("events with the whole text", () => {
  it("are right for a reader that only appends `text_delta`: late, and cut after every frame", async () => {
    const { door, say, read } = scene();
    const written = (await say("one")) + (await say("two"));
    const whole = await read("?text=whole");
    const wanted = textIn(whole);
    expect(wanted).toContain("One. ");
    expect(written).toContain("event: text_delta");
    expect(whole.some(({ name }) => /_start$/.test(name) && name.startsWith("text"))).toBe(false);
    for (let cut = 0; cut <= whole.length; cut++) {
      const before = whole.slice(0, cut);
      const id = before.findLast((frame) => frame.id !== undefined)?.id;
      const after = await read("?text=whole", id === undefined ? {} : { "Last-Event-ID": id });
      expect(textIn(id === undefined ? after : [...before, ...after]), `cut after ${cut}`).toBe(wanted);
    }
    await door.close();
  });

  it("name the error of a run so that a browser does not take it for its own", async () => {
    const door = openStreamDoor({ agents: [scriptedAgent([{ text: "so far", hang: true }])], store: memoryStore() });
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ sessionId: "a", agent: "helper", input: "hi" });
    const streamed = (await door.fetch(new Request("http://localhost/api/agent/execute", { method: "POST", headers, body }))).text();
    const live = door.fetch(new Request("http://localhost/api/sessions/a/events?text=whole")).then((response) => response.text());
    await expect.poll(() => door.use("a", ({ feed }) => feed.watchers)).toBe(2);
    await door.fetch(new Request("http://localhost/api/sessions/a/abort", { method: "POST", headers, body: "{}" }));
    const frames = framesOf(await live);
    expect(frames.map(({ name, data }) => [name, data.type]).filter(([, type]) => type === "error")).toEqual([["run_error", "error"]]);
    expect(textIn(frames)).toBe("so far");
    expect(await streamed).not.toContain("event: error");
    await door.close();
  });
});
