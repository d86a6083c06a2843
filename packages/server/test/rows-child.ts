/** What a test runs as another process: a server on the SQLite file that it is given. It states its address, and each start of a tool, a line each. */
import { createAgent, defineTool } from "@loopwright/core";
import { scripted, silentLogger } from "@loopwright/core/memory";
import { listen } from "@loopwright/server/node";
import { sqliteStore } from "@loopwright/store-sqlite";
import { serve } from "./serve.ts";

const [file = ""] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const parameters = { type: "object" } as const;

const pay = defineTool({
  ...{ name: "pay", description: "Pays.", parameters },
  execute(_, { callKey }) {
    say(`started ${callKey}`);
    return new Promise<never>(() => {});
  },
});
const pick = defineTool({ name: "pick", description: "Asks the user.", parameters });
const provider = scripted(({ messages }) => {
  const text = messages.map((message) => (message.role === "user" ? message.content : "")).join("");
  if (text === "tell") return { text: "Once upon", hang: true };
  return { calls: [{ name: text, id: text }] };
});
const agents = [createAgent({ name: "helper", provider, tools: [pay, pick] })];
const server = serve({ agents, store: sqliteStore({ path: file }), logger: silentLogger });
say((await listen(server)).url);
