import { createClient } from "@loopwright/client";
import { createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { z } from "zod";

const provider = scripted([{ calls: [{ name: "ask", args: { question: "Which colour?" } }] }, { text: "Blue it is." }]);
const server = createServer({ runtime: createRuntime({ agents: [createAgent({ name: "painter", provider })] }) });
const fetch = (request: Request) => server.fetch(request, { remoteAddress: "127.0.0.1" });

const ask = defineTool({
  name: "ask",
  description: "Asks the user.",
  parameters: z.object({ question: z.string() }),
  execute: ({ question }) => (question.includes("colour") ? "blue" : "no idea"),
});
const stream = createClient({ url: "http://localhost", fetch }).execute("Paint.", { agent: "painter", tools: [ask] });
console.log((await stream.result()).text); // Blue it is.
await server.close();
