import { describe, expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { calm, deferred, world } from "./harness.ts";

const texts = (messages: readonly { readonly role: string }[]): readonly string[] => messages.map((message) => JSON.stringify(message));

describe("a message while a run is open", () => {
  it("gets a run of its own afterwards, by default", async () => {
    const gate = deferred();
    const { session, provider } = world([{ text: "one", after: gate.promise }, { text: "two" }]);
    const first = execute(session, "1");
    const second = execute(session, "2");
    await calm();
    expect(provider.requests).toHaveLength(1);
    gate.resolve();
    expect([(await first.result()).text, (await second.result()).text]).toEqual(["one", "two"]);
    expect(provider.requests[1]?.messages).toHaveLength(3);
  });

  it("joins before the next model call, when it steers", async () => {
    const gate = deferred();
    const waits = defineTool({
      name: "waits",
      description: "Waits.",
      parameters: { type: "object" },
      execute: async () => gate.promise.then(() => "ok"),
    });
    const { session, provider } = world([{ calls: [{ name: "waits" }] }, { text: "both" }], { tools: [waits] });
    const first = execute(session, "1");
    await calm();
    const second = execute(session, "and also this", { mode: "steer" });
    await calm();
    gate.resolve();
    expect((await first.result()).text).toBe("both");
    expect((await second.result()).text).toBe("both");
    expect(provider.requests[1]?.messages.at(-1)).toEqual({ role: "user", content: "and also this" });
  });

  it("takes one more turn, when it steers a run that would have ended", async () => {
    const gate = deferred();
    const { session, provider } = world([{ text: "one", after: gate.promise }, { text: "two" }]);
    const first = execute(session, "1");
    await calm();
    execute(session, "wait, also 2", { mode: "steer" });
    await calm();
    gate.resolve();
    expect((await first.result()).text).toBe("two");
    expect(texts(provider.requests[1]?.messages ?? []).at(-1)).toContain("wait, also 2");
  });

  it("steers nothing when no run is open: it is a run of its own", async () => {
    const { session } = world([{ text: "one" }]);
    expect((await execute(session, "1", { mode: "steer" }).result()).text).toBe("one");
  });

  it("aborts the open run first, when it interrupts", async () => {
    const { session } = world([{ text: "long", hang: true }, { text: "two" }]);
    const first = execute(session, "1");
    await calm();
    const second = execute(session, "2", { mode: "interrupt" });
    expect(await first.result()).toMatchObject({ status: "aborted", text: "long" });
    expect((await second.result()).text).toBe("two");
  });

  it("is answered before those that wait, when it interrupts, and after what interrupted before it", async () => {
    const gate = deferred();
    const { session, provider, again } = world([
      { text: "long", hang: true },
      { text: "a", after: gate.promise },
      { text: "b" },
      { text: "c" },
      { text: "d" },
    ]);
    execute(session, "1");
    await calm();
    const waiting = [execute(session, "2"), execute(session, "3")];
    await calm();
    const urgent = execute(session, "4", { mode: "interrupt" });
    await calm();
    const urgentToo = execute(session, "5", { mode: "interrupt" });
    gate.resolve();
    await Promise.all([...waiting, urgent, urgentToo].map((run) => run.result()));
    const asked = provider.requests.map(({ messages }) =>
      messages.flatMap((message) => (message.role === "user" ? [message.content] : [])).at(-1),
    );
    expect(asked).toEqual(["1", "4", "5", "2", "3"]);
    expect((await again().ready()).messages).toEqual(session.messages);
  });

  it("is answered before what was steered too late, when it interrupts", async () => {
    const { session, provider } = world([{ text: "long", hang: true }, { text: "a" }, { text: "b" }]);
    execute(session, "1");
    await calm();
    const steered = execute(session, "2", { mode: "steer" });
    await calm();
    const urgent = execute(session, "3", { mode: "interrupt" });
    await Promise.all([steered.result(), urgent.result()]);
    const asked = provider.requests.map(({ messages }) =>
      messages.flatMap((message) => (message.role === "user" ? [message.content] : [])).at(-1),
    );
    expect(asked).toEqual(["1", "3", "2"]);
  });

  it("is refused without a trace, when it may only be the first", async () => {
    const gate = deferred();
    const { session, types } = world([{ text: "one", after: gate.promise }]);
    const first = execute(session, "1");
    await calm();
    await expect(execute(session, "2", { mode: "reject" }).result()).rejects.toMatchObject({ code: "SESSION_BUSY" });
    gate.resolve();
    await first.result();
    expect((await types()).filter((type) => type === "input.accepted")).toHaveLength(1);
  });

  it("is not lost when the run is aborted at the same moment", async () => {
    const { session } = world([{ text: "long", hang: true }, { text: "answered" }]);
    const first = execute(session, "1");
    await calm();
    const aborting = first.abort();
    const second = execute(session, "2", { mode: "steer" });
    await aborting;
    expect((await first.result()).status).toBe("aborted");
    expect((await second.result()).status).toBe("completed");
    expect(session.messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  it("keeps the order of many that come at once", async () => {
    const { session } = world((_request, call) => ({ text: `answer ${call}` }));
    const all = Array.from({ length: 50 }, (_, i) => execute(session, `say ${i}`).result());
    await Promise.all(all);
    const written = session.messages.filter(({ role }) => role === "user").map((message) => ("content" in message ? message.content : ""));
    expect(written).toEqual(Array.from({ length: 50 }, (_, i) => `say ${i}`));
  });
});

describe("a branch", () => {
  it("continues any message, and the old one can be chosen again", async () => {
    const { session, provider } = world([{ text: "one" }, { text: "two" }, { text: "other two" }, { text: "three" }]);
    await execute(session, "1").result();
    const [, firstAnswer] = session.messageIds;
    await execute(session, "2").result();
    const oldHead = session.messageIds.at(-1) as string;
    await execute(session, "2 edited", { parent: firstAnswer as string }).result();
    expect(texts(session.messages).join()).not.toContain('"two"');
    expect(provider.requests[2]?.messages).toHaveLength(3);
    await session.moveHead(oldHead);
    await execute(session, "3").result();
    expect(session.messages).toHaveLength(6);
    expect(texts(session.messages)[3]).toContain('"two"');
  });

  it("from the root begins anew", async () => {
    const { session } = world([{ text: "one" }, { text: "fresh" }]);
    await execute(session, "1").result();
    await execute(session, "from the start", { parent: null }).result();
    expect(session.messages).toHaveLength(2);
  });

  it("regenerates the answer to a user message without saying it again", async () => {
    const { session, provider } = world([{ text: "one" }, { text: "better" }]);
    await execute(session, "1").result();
    const result = await execute(session, { regenerate: session.messageIds[0] as string }).result();
    expect(result).toMatchObject({ text: "better" });
    expect(session.messages).toHaveLength(2);
    expect(provider.requests[1]?.messages).toEqual([{ role: "user", content: "1" }]);
  });

  it("to a message that is not there is refused", async () => {
    const { session } = world([{ text: "one" }]);
    await execute(session, "1").result();
    await expect(execute(session, "x", { parent: "99" }).result()).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(session.moveHead("99")).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(execute(session, { regenerate: session.messageIds[1] as string }).result()).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });
});
