import { execute, type Message, textOf } from "@loopwright/core";
import type { ScriptedTurn } from "@loopwright/core/memory";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { contextEngine, type RecallOptions, recallTool } from "../src/index.ts";
import { type World, world } from "./harness.ts";

/** A session whose beginning was compacted; then the model recalls something of it, and another run follows. */
async function recalled(args: object, options: RecallOptions = {}): Promise<World & { readonly read: string; readonly later: string }> {
  const script = (request: ModelRequest): ScriptedTurn => {
    const last = request.messages.at(-1) as Message;
    if (textOf(last) === "What was it?") return { calls: [{ name: options.name ?? "recall_conversation", args: args as never }] };
    return { text: `Noted. ${"word ".repeat(80)}` };
  };
  const made = world(script, { tools: [recallTool(options)], contextTokens: 1_500, context: contextEngine() });
  await execute(made.session, "The goal.").result();
  await execute(made.session, `${"long ago ".repeat(30)} The code of the door is Tulip-77.`).result();
  for (let input = 0; input < 14; input++) await execute(made.session, `Question ${input}.`).result();
  await made.session[Symbol.asyncDispose]();
  const next = made.again();
  await execute(next, "What was it?").result();
  await execute(next, "Thank you.").result();
  const results = made.provider.requests
    .slice(-2)
    .map(({ messages }) => textOf(messages.findLast(({ role }) => role === "tool_result") as Message));
  return { ...made, read: results[0] ?? "", later: results[1] ?? "" };
}

describe("the recall tool", () => {
  it("gives the original of what was compacted, in another process, and later runs read only which messages it gave", async () => {
    const { provider, read, later } = await recalled({ query: "DOOR code" });
    const asked = provider.requests.at(-3)?.messages.map(textOf).join("\n");
    expect(asked).toContain("Summary of the conversation so far:");
    expect(asked).not.toContain("Tulip-77");
    expect(read).toMatch(/^\[3\] USER: .*Tulip-77\.$/s);
    expect(later).toBe("Recalled the messages 3 of this conversation.");
  });

  it("reads on from a message by its number, at most so many messages and characters, and names the next one", async () => {
    const { read } = await recalled({ from: 2 }, { messagesMax: 2 });
    expect(read).toMatch(/^\[2\] ASSISTANT: Noted\./);
    expect(read).toMatch(/\[3\] USER: long ago.*More from message 4 on\.$/s);
    const cut = await recalled({ from: 3 }, { charactersMax: 100 });
    expect(cut.read).toMatch(/^\[3\] USER: .{94}\n\[\d+ characters left out\]\n\nMore from message 4 on\.$/s);
  });

  it("finds the newest messages first, gives a text where nothing is found, and takes blank arguments for the beginning", async () => {
    expect((await recalled({ query: "question" }, { messagesMax: 1 })).read).toMatch(
      /^\[\d\d\] USER: Question 13\.\n\nMore messages have these words\.$/,
    );
    expect((await recalled({ query: "door nonsense" })).read).toBe("No message of this conversation has that.");
    expect((await recalled({})).read).toMatch(/^\[1\] USER: The goal\./);
  });

  it("may be repeated after a crash, and refuses limits that are none", () => {
    expect(recallTool().replay).toBe("pure");
    expect(() => recallTool({ messagesMax: 0 })).toThrow("`messagesMax` is 0");
  });
});
