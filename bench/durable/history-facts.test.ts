import { foldSession } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { historyFacts } from "./history-facts.ts";

it("makes a session that rests, of as many facts as are asked for and all their messages", async () => {
  const facts = [...historyFacts(1_001)];
  expect(facts).toHaveLength(1_001);
  const folded = foldSession({ scope: "local", session: "s" }, memoryStore().blobs);
  await folded.add(facts);
  expect(folded.snapshot()).toMatchObject({ status: "idle", messages: { length: 400 }, waiting: [] });
});
