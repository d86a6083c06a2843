import type { Tool } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import { type DurableEvent, textOf } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { turnOfLoop, until } from "../../host/test/turn-of-loop.ts";
import { listen } from "../src/node/listen.ts";
import { type CommandedScene, openCommandedScene, quiet, watchStream } from "./commanded-scene.ts";
import { connectOverPort } from "./connect-over-port.ts";
import { type Connect, textOfAnswer } from "./connection.ts";

const events = "/api/sessions/s/events";

async function abort(connect: Connect, reason?: string): Promise<{ readonly status: number; readonly aborting: boolean }> {
  const answer = await connect({ path: "/api/sessions/s/abort", method: "POST", ...(reason === undefined ? {} : { body: { reason } }) });
  const { aborting } = JSON.parse(answer ? await textOfAnswer(answer) : "{}") as { readonly aborting: boolean };
  return { status: answer?.status ?? 0, aborting };
}

const typesOf = (history: readonly DurableEvent[]): readonly string[] => history.map(({ type }) => type);

const answers = (history: readonly DurableEvent[]): readonly { readonly text: string; readonly stopReason: string }[] =>
  history.flatMap((event) =>
    event.type === "message_end" && event.message.role === "assistant"
      ? [{ text: textOf(event.message), stopReason: event.message.stopReason }]
      : [],
  );

const writtenByUser = (history: readonly DurableEvent[]): readonly string[] =>
  history.flatMap((event) => (event.type === "message_end" && event.message.role === "user" ? [textOf(event.message)] : []));

describe("that disconnects", () => {
  async function leaveInMidAnswer(scene: CommandedScene, connect: Connect): Promise<void> {
    const execute = { path: "/api/agent/execute", method: "POST", body: { sessionId: "s", input: "Tell me" } } as const;
    const running = await watchStream(connect, execute);
    const others = [await watchStream(connect, { path: events }), await watchStream(connect, { path: `${events}?after=` })];
    // A reader that is not caught up yet would get a snapshot in place of the delta.
    await quiet();
    scene.model.say("Once ");
    for (const watching of [running, ...others]) await watching.got("text_delta");
    for (const watching of [running, ...others]) await watching.connection.cut();
    await until(() => scene.door.context.streams.open === 0, "the server has noticed");
    await quiet();
    expect(scene.model.aborted).toBe(0);
    scene.model.say("upon a time.");
    scene.model.end();
    await scene.rests();
    const history = await scene.history();
    expect(answers(history)).toEqual([{ text: "Once upon a time.", stopReason: "stop" }]);
    expect(typesOf(history)).not.toContain("aborting");
  }

  it("does not stop the run, although no reader is left", async () => {
    const scene = await openCommandedScene();
    await leaveInMidAnswer(scene, scene.connect);
  });

  it("does not stop the run over sockets either", async () => {
    const scene = await openCommandedScene();
    const listening = await listen(scene.door);
    await leaveInMidAnswer(scene, connectOverPort(listening.url));
    await scene.door.close();
    await listening.close();
  });

  it("does not stop the run when it goes before the first byte", async () => {
    const scene = await openCommandedScene();
    const body = { sessionId: "s", input: "Tell me" };
    const connection = await scene.connect({ path: "/api/agent/execute", method: "POST", body, cutAfter: 0 });
    expect(await connection?.read()).toBeUndefined();
    scene.model.say("Anyway.");
    scene.model.end();
    await scene.rests();
    expect(answers(await scene.history())).toEqual([{ text: "Anyway.", stopReason: "stop" }]);
  });
});

describe("an abort", () => {
  it("stops the run, keeps the partial answer, and ends every stream with it", async () => {
    const scene = await openCommandedScene();
    const body = { sessionId: "s", input: "Tell me" };
    const running = await scene.watch({ path: "/api/agent/execute", method: "POST", body });
    const following = await scene.watch({ path: events });
    await quiet();
    scene.model.say("Once upon 世");
    await following.got("text_delta");
    expect(await abort(scene.connect, "enough")).toEqual({ status: 202, aborting: true });
    await Promise.all([running.ended(), following.ended()]);
    const history = await scene.history();
    expect(scene.model.aborted).toBe(1);
    expect(answers(history)).toEqual([{ text: "Once upon 世", stopReason: "aborted" }]);
    expect(typesOf(history).slice(-5)).toEqual(["aborting", "message_end", "turn_end", "error", "run_end"]);
    expect(following.reader.durable).toEqual(history);
    expect([...following.reader.flaws, ...running.reader.flaws]).toEqual([]);
    expect(running.reader.plain.at(-1)).toMatchObject({ type: "execute_complete", status: "aborted", error: { code: "RUN_ABORTED" } });
  });

  it("keeps the partial answer of a run without readers", async () => {
    const scene = await openCommandedScene();
    await scene.say("Tell me");
    scene.model.say("Half");
    await quiet();
    expect(await abort(scene.connect)).toEqual({ status: 202, aborting: true });
    await scene.rests();
    expect(answers(await scene.history())).toEqual([{ text: "Half", stopReason: "aborted" }]);
    expect(scene.model.aborted).toBe(1);
  });

  it("twice is once, and after the end there is nothing to stop", async () => {
    const scene = await openCommandedScene();
    await scene.say("Tell me");
    scene.model.say("Half");
    await quiet();
    const both = await Promise.all([abort(scene.connect, "one"), abort(scene.connect, "two")]);
    expect(both.map(({ status }) => status)).toEqual([202, 202]);
    await scene.rests();
    const history = await scene.history();
    expect(typesOf(history).filter((type) => type === "aborting")).toHaveLength(1);
    expect(await abort(scene.connect)).toEqual({ status: 202, aborting: false });
    expect(await scene.history()).toEqual(history);
  });

  it("before the first word leaves no answer behind", async () => {
    const scene = await openCommandedScene();
    await scene.say("Tell me");
    expect((await abort(scene.connect)).aborting).toBe(true);
    await scene.rests();
    const history = await scene.history();
    expect(
      answers(history)
        .map(({ text }) => text)
        .join(""),
    ).toBe("");
    expect(history.at(-1)).toMatchObject({ type: "run_end", status: "aborted" });
  });

  it("and a message at the same time: the message is not lost, whichever was first", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed);
      const scene = await openCommandedScene();
      await scene.say("First");
      scene.model.say("Half");
      await quiet();
      const doing = [() => abort(scene.connect), () => scene.say("Second", random() < 0.4 ? { mode: "steer" } : {})];
      if (random() < 0.5) doing.reverse();
      const done: Promise<unknown>[] = [];
      for (const one of doing) {
        done.push(one());
        for (let turns = Math.floor(random() * 3); turns > 0; turns--) await turnOfLoop();
      }
      await Promise.all(done);
      scene.model.say("Answered.");
      scene.model.end();
      await scene.rests();
      const history = await scene.history();
      expect(writtenByUser(history), `seed ${seed}`).toEqual(["First", "Second"]);
      expect(answers(history)[0], `seed ${seed}`).toEqual({ text: "Half", stopReason: "aborted" });
    }
  });

  it("after a steered message amid tools keeps the message", async () => {
    let end = (): void => {};
    const tool: Tool = {
      name: "dig",
      description: "Digs.",
      parameters: { type: "object" },
      execute: (_, { signal }) =>
        new Promise<string>((resolve) => {
          end = () => resolve("dug");
          signal.addEventListener("abort", () => resolve("stopped"), { once: true });
        }),
    };
    const scene = await openCommandedScene({ tools: [tool] });
    await scene.say("Dig");
    scene.model.call("dig", {});
    scene.model.call("dig", { deeper: true });
    scene.model.end();
    const following = await scene.watch({ path: `${events}?after=` });
    await following.got("tool_execution_start", 2);
    await scene.say("Not there!", { mode: "steer" });
    await abort(scene.connect);
    end();
    scene.model.say("Where?");
    scene.model.end();
    await scene.rests();
    const history = await scene.history();
    expect(writtenByUser(history)).toEqual(["Dig", "Not there!"]);
    await following.got("rest");
    expect(following.reader.durable).toEqual(history);
    expect(following.reader.flaws).toEqual([]);
  });
});
