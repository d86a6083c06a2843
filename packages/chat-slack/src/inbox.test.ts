import { openChatMemory } from "@loopwright/chat-kit";
import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { openInbox } from "./inbox.ts";
import type { SlackWords } from "./incoming.ts";
import { pendingMax, settledMax } from "./slack-limits.ts";

it("delivers at the next start what an earlier process has kept, however much was delivered since", async () => {
  const memory = openChatMemory(":memory:");
  const words: SlackWords = {
    ...{ key: "waits", place: "C1:1", channel: "C1", ts: "1", isPrivate: false },
    ...{ author: "U1", text: "Hello", files: 0 },
  };
  memory.write("inbox:slack:B1:waits", { words });
  for (let at = 0; at < settledMax + pendingMax; at++) memory.write(`inbox:slack:B1:${at}`, {});
  const delivered: SlackWords[] = [];
  const inbox = openInbox({
    ...{ memory, bot: "B1", clock: manualClock(), signal: new AbortController().signal },
    report: (message) => expect.unreachable(message),
    deliver: async (message) => void delivered.push(message),
  });
  inbox.start();
  await inbox.ended();
  memory.close();
  expect(delivered).toEqual([words]);
});
