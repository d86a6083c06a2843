import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { z } from "zod";

const path = z.object({ path: z.string() });
const read = defineTool({ name: "read", description: "Reads a file.", parameters: path, execute: ({ path }) => `${path}: old` });
const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  parameters: path,
  approval: "It cannot be undone.",
  execute: ({ path }) => `${path} is gone`,
});
const provider = scripted([
  { calls: [{ name: "read", args: { path: "a.txt" } }] },
  { calls: [{ name: "remove", args: { path: "a.txt" } }] },
  { text: "Done." },
]);

const session = createSession({ agent: createAgent({ name: "demo", provider, tools: [read, remove] }) });
const { pendingApprovals = [] } = await execute(session, "Tidy up.").result();
for (const { callKey, argsDigest } of pendingApprovals) {
  const decided = await session.decide(callKey, { decision: "allow", argsDigest });
  console.log((await decided.stream().result()).text); // Done.
}
