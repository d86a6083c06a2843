import { createAgent } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { bearerTokens, createServer } from "@loopwright/server";

const agent = createAgent({ name: "helper", provider: scripted([{ text: "Hello from inside your app." }]) });

export const server = createServer({
  runtime: createRuntime({ agents: [agent] }),
  basePath: "/agents",
  hosts: ["chat.example.com"],
  authenticate: bearerTokens({ [process.env["ANNES_TOKEN"] ?? ""]: { user: "anne", scope: "garden" } }),
});
