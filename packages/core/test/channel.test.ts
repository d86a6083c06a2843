import { describe, expect, it } from "vitest";
import { type AgentEvent, execute } from "../src/index.ts";
import { memoryChannel } from "../src/memory/index.ts";
import { calm, world } from "./harness.ts";

describe("the event channel", () => {
  it("carries what the owner publishes, deltas and facts, once and in order", async () => {
    const channel = memoryChannel();
    const received: AgentEvent[] = [];
    const { session, again } = world([{ text: "hello there" }], { session: { channel } });
    channel.subscribe({ scope: "local", session: "s1" }, (events) => received.push(...events));
    const seen: AgentEvent[] = [];
    session.subscribe((events) => seen.push(...events));
    const bystander = again();
    await bystander.ready();
    bystander.subscribe(() => {
      throw new Error("a listener that throws harms nobody");
    });
    await execute(session, "x").result();
    await calm();
    expect(received.map(({ type }) => type)).toEqual(seen.map(({ type }) => type));
    expect(received.some(({ type }) => type === "text_delta")).toBe(true);
  });

  it("that throws, like a logger that does, stops nothing", async () => {
    const broken = (): never => {
      throw new Error("down");
    };
    const { session } = world([{ text: "hello" }], {
      session: {
        channel: { publish: broken, notify: broken, subscribe: () => () => {}, subscribeScope: () => () => {} },
        logger: { log: broken },
      },
    });
    expect((await execute(session, "x").result()).text).toBe("hello");
  });
});
