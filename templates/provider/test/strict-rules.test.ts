import type { Json, JsonObject, Message } from "@loopwright/core";
import { roughHistory } from "@loopwright/provider-kit/testing";
import { requestsOfLog } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { bodyOf } from "../src/request.ts";
import { violationsOf } from "./strict-rules.ts";

const ask: JsonObject = { role: "user", content: [{ text: "Hello." }] };
const answer: JsonObject = { role: "assistant", content: [{ text: "Hello." }] };
const use = (...ids: readonly string[]): JsonObject => ({
  role: "assistant",
  content: ids.map((call) => ({ call, name: "look", arguments: {} })),
});
const result = (call: string): JsonObject => ({ role: "tool", call, content: [{ text: "Seen." }] });
const say = (...content: readonly Json[]): JsonObject => ({ role: "user", content });
const withTurns = (...messages: readonly Json[]): JsonObject => ({ model: "acme-2", messages });

describe("Acme's rules", () => {
  it("accept turns in order", () => {
    expect(violationsOf(withTurns(ask, use("a", "b"), result("a"), result("b"), answer, ask))).toEqual([]);
  });

  it.each([
    ["no turn", withTurns()],
    ["an answer as the first turn", withTurns(answer)],
    ["two turns of the user in a row", withTurns(ask, ask)],
    ["two answers in a row", withTurns(ask, answer, answer)],
    ["an unknown role", withTurns(ask, { ...answer, role: "system" })],
    ["a result without a call", withTurns(ask, result("a"))],
    ["results in another order than the calls", withTurns(ask, use("a", "b"), result("b"), result("a"))],
    ["a call without a result", withTurns(ask, use("a"), ask)],
    ["a call without a result at the end", withTurns(ask, use("a"))],
    ["a turn without content", withTurns(say())],
    ["a blank text", withTurns(say({ text: " " }))],
    ["arguments as text", withTurns(ask, { role: "assistant", content: [{ call: "a", name: "look", arguments: "{}" }] }, result("a"))],
    ["a thought without its seal", withTurns(ask, { role: "assistant", content: [{ thought: "Hm." }] })],
  ])("refuse %s", (_, body) => {
    expect(violationsOf(body)).not.toEqual([]);
  });

  const flawsOf = (messages: readonly Message[]): readonly string[] => violationsOf(bodyOf({ model: "acme-2", messages }));

  it("accept 500 rough histories as the adapter sends them", () => {
    for (let seed = 0; seed < 500; seed++) expect({ seed, flaws: flawsOf(roughHistory(seed)) }).toEqual({ seed, flaws: [] });
  });

  it("accept every prefix of 100 simulated sessions as the adapter sends it", () => {
    for (let seed = 0; seed < 100; seed++) {
      const flaws = requestsOfLog(seed).map(({ messages }) => flawsOf(messages));
      expect({ seed, flaws }).toEqual({ seed, flaws: flaws.map(() => []) });
    }
  });
});
