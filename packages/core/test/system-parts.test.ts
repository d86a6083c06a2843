import { describe, expect, it } from "vitest";
import { type AgentPrompt, execute, systemText } from "../src/index.ts";
import { world } from "./harness.ts";

const layers: AgentPrompt = [
  { text: ({ sessionId }) => `Session ${sessionId}.`, source: "place" },
  { text: "Be brief." },
  { text: " \n" },
  { text: () => undefined },
  { text: () => "Dated today.", cache: "stable", source: "date" },
  { text: "Of this shop.", cache: "session" },
];
const parts = [
  { text: "Be brief.", source: "agent", cache: "stable" },
  { text: "Dated today.", source: "date", cache: "stable" },
  { text: "Session s1.", source: "place", cache: "session" },
  { text: "Of this shop.", source: "agent", cache: "session" },
];

describe("the system prompt of a request", () => {
  it.each<[name: string, prompt: AgentPrompt | undefined, parts: unknown]>([
    ["of layers has their texts, stable ones first, blank ones left out", layers, parts],
    ["of a text is one stable part", "Be brief.", [{ text: "Be brief.", source: "agent", cache: "stable" }]],
    ["of a function is one part of the session", () => "Be kind.", [{ text: "Be kind.", source: "agent", cache: "session" }]],
    ["of a blank text is absent", " ", undefined],
    ["of no layers is absent", [], undefined],
    ["of no prompt is absent", undefined, undefined],
  ])("%s", async (_, prompt, expected) => {
    const { session, provider } = world([{ text: "Hi." }], prompt === undefined ? {} : { prompt });
    await execute(session, "Hello").result();
    expect(provider.requests[0]?.system).toEqual(expected);
  });

  it("is the session's in place of all layers where a session began with one", async () => {
    const { session, provider } = world([{ text: "Hi." }], { prompt: layers, session: { prompt: "Only this." } });
    await execute(session, "Hello").result();
    expect(provider.requests[0]?.system).toEqual([{ text: "Only this.", source: "session", cache: "session" }]);
  });

  it("is shown to `prepare` as one text, keeps its parts if the hook leaves it, and is the hook's if it changes it", async () => {
    const seen: (string | undefined)[] = [];
    const change = [undefined, (text: string) => text, (text: string) => `${text}!`];
    const { session, provider } = world([{ text: "1" }, { text: "2" }, { text: "3" }], {
      prompt: layers,
      hooks: [
        {
          name: "prepare",
          prepare({ system = "" }) {
            seen.push(system);
            const changed = change[seen.length - 1]?.(system);
            return changed === undefined ? undefined : { system: changed };
          },
        },
      ],
    });
    for (const input of ["a", "b", "c"]) await execute(session, input).result();
    const text = "Be brief.\n\nDated today.\n\nSession s1.\n\nOf this shop.";
    expect(seen).toEqual([text, text, text]);
    const [first, second, third] = provider.requests.map(({ system }) => system);
    expect([first, second]).toEqual([parts, parts]);
    expect(third).toEqual([{ text: `${text}!`, source: "hook", cache: "session" }]);
    expect(systemText(first)).toBe(text);
  });

  it("is written well-formed, whatever half of a character a layer ends with", async () => {
    const { session, provider } = world([{ text: "Hi." }], { prompt: [{ text: "Be brief \ud83d" }] });
    await execute(session, "Hello").result();
    expect(provider.requests[0]?.system?.[0]?.text.isWellFormed()).toBe(true);
  });
});
