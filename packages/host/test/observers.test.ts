import { createAgent, type Fact, type Observer } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import { createHost, createRuntime } from "@loopwright/host";
import { expect, it } from "vitest";

const access = { user: "ann", scope: "team" };

it("gives its observers to each session, opened or made, and notifies them of removals, whatever one of them throws", async () => {
  const errors: unknown[] = [];
  const logger: Logger = { log: (level, message, fields) => void (level === "error" && errors.push([message, fields])) };
  const facts: (readonly [string, Fact["type"]])[] = [];
  const removed: string[] = [];
  const failing: Observer = {
    removed() {
      throw new TypeError("observer down");
    },
  };
  const rejecting: Observer = { removed: (async () => Promise.reject(new TypeError("observer down, later"))) as never };
  const seeing: Observer = {
    facts: ({ scope, session }, batch) => facts.push(...batch.map(({ type }) => [`${scope}/${session}`, type] as const)),
    removed: ({ scope, session }) => void removed.push(`${scope}/${session}`),
  };
  const store = memoryStore();
  const agents = [createAgent({ name: "helper", provider: scripted([{ text: "One." }, { text: "Two." }]) })];
  const open = () => createHost({ runtime: createRuntime({ agents, store, logger, observers: [failing, rejecting, seeing] }) });
  const first = open();
  const made = await first.sessions.create(access, { id: "a" });
  await made.session.submit("1");
  await expect.poll(() => made.session.isResting && facts.at(-1)?.[1]).toBe("run.finished");
  await first.close();
  const second = open();
  const opened = await second.sessions.open({ scope: "team", session: "a" });
  const before = facts.length;
  await opened.session.change({ title: "Seen" });
  expect(facts.slice(before)).toEqual([["team/a", "session.changed"]]);
  opened.release();
  expect(removed).toEqual([]);
  await second.sessions.remove({ scope: "team", session: "a" });
  expect(removed).toEqual(["team/a"]);
  await expect.poll(() => errors.length).toBe(2);
  expect(errors).toEqual(
    ["observer down", "observer down, later"].map((message) => [
      "The method `removed` of an observer threw an error.",
      { scope: "team", session: "a", error: expect.objectContaining({ name: "TypeError", message }) },
    ]),
  );
  await second.close();
});
