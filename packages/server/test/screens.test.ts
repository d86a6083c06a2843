import { applyEvents, type SessionView, viewOf } from "@loopwright/client";
import type { SessionSnapshot } from "@loopwright/core";
import { compareCursors, type DurableEvent, decodeCursor } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { type CommandedScene, openCommandedScene, type Watching } from "./commanded-scene.ts";
import { textOfAnswer } from "./connection.ts";
import { pickTool } from "./nodes-scene.ts";

const path = "/api/sessions/s";

interface Screen {
  readonly first: SessionSnapshot;
  readonly watching: Watching;
}

async function snapshotIn({ connect }: CommandedScene): Promise<SessionSnapshot> {
  const answer = await connect({ path });
  if (answer?.status !== 200) throw new Error(`The session was answered with ${answer?.status}.`);
  return JSON.parse(await textOfAnswer(answer)) as SessionSnapshot;
}

async function openScreen(scene: CommandedScene): Promise<Screen> {
  const first = await snapshotIn(scene);
  return { first, watching: await scene.watch({ path: `${path}/events?after=${first.cursor}` }) };
}

const shown = ({ path: messages, head, status, pendingToolCalls, usage, lastRun, run }: SessionView): object => ({
  messages: messages.map(({ id, message }) => [id, message]),
  ...{ head, status, pendingToolCalls, usage, lastRun, run },
});

const isAfter = (event: DurableEvent, cursor: string): boolean => compareCursors(event, decodeCursor(cursor) ?? event) > 0;

describe("D39: a screen", () => {
  it("is in step with the session by its snapshot and the events after the cursor in it, whenever it is opened", async () => {
    const scene = await openCommandedScene({ tools: [pickTool] });
    const { model, connect } = scene;
    const screens = [await openScreen(scene)];
    await scene.say("Pick.");
    screens.push(await openScreen(scene));
    model.say("One of ");
    await screens[0]?.watching.got("text_delta");
    screens.push(await openScreen(scene));
    model.call("pick", { of: "two" });
    model.end();
    await scene.rests();
    screens.push(await openScreen(scene));
    const waiting = await snapshotIn(scene);
    expect(waiting.run?.pendingToolCalls).toMatchObject([{ toolCallId: "call_1", toolName: "pick", args: { of: "two" } }]);
    const results = [{ role: "tool_result", toolCallId: "call_1", content: "red" }];
    expect((await connect({ path: `${path}/tool-results`, method: "POST", body: { results } }))?.status).toBe(202);
    model.say("Red it is.");
    model.end();
    await scene.rests();
    screens.push(await openScreen(scene));
    const [end, history] = [await snapshotIn(scene), await scene.history()];
    expect(end.messages.map(({ message }) => message.role)).toEqual(["user", "assistant", "tool_result", "assistant"]);
    // None was opened at the same point of the log, but for the one in the middle of the answer.
    expect(new Set(screens.map(({ first }) => first.cursor)).size).toBe(4);
    for (const { first, watching } of screens) {
      await watching.got("rest");
      if (first.cursor !== end.cursor) await watching.got("run_end");
      expect(watching.reader.durable).toEqual(history.filter((event) => isAfter(event, first.cursor)));
      expect(shown(applyEvents(viewOf(first), watching.reader.durable))).toEqual(shown(viewOf(end)));
      await watching.connection.cut();
    }
    await scene.door.close();
  });
});
