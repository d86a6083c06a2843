import { factVersion } from "@loopwright/core";
import type { World } from "../world/simulated-world.ts";

/** A session that was begun long ago, by a client that brought a tool and a prompt, and of which no process has a handle. */
export async function beginBefore({ store, scope, agent }: World, session: string): Promise<void> {
  const tool = {
    name: "brought",
    description: "Is run by the client that brought it.",
    parameters: { type: "object", properties: { of: { enum: ["this", "that"] } } },
  };
  const opened = { type: "session.opened", agent: agent.name, tools: [tool], prompt: `This is the session ${session}.` } as const;
  const facts = [{ ...opened, at: 0, v: factVersion }];
  await store.truth.log.append({ scope, session }, { expectedSeq: 0, batchId: "begun", facts });
}
