import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { bearerTokens, createServer } from "@loopwright/server";

const agent = createAgent({ name: "helper", provider: scripted([{ text: "Hello from inside your app." }]) });

export const server = createServer({
  agents: [agent],
  store: memoryStore(),
  basePath: "/agents",
  hosts: ["chat.example.com"],
  authenticate: bearerTokens({ [process.env["ANNES_TOKEN"] ?? ""]: { user: "anne", scope: "garden" } }),
});
