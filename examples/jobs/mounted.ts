import { createAgent } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { sqliteBackend } from "@loopwright/store-sqlite";
import { Hono } from "hono";

const agent = createAgent({ name: "helper", provider: scripted([{ text: "Hello from inside your app." }]) });
const runtime = createRuntime({ agents: [agent], ...sqliteBackend(":memory:") });
const server = createServer({ runtime, basePath: "/agents", authenticate: () => ({ user: "anne", scope: "garden" }) });

const app = new Hono();
app.all("/agents/*", (c) => server.fetch(c.req.raw));

console.log((await app.request("http://localhost/agents/api/agents")).status); // 200
await server.close();
await runtime.close();
