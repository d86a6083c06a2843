// A table that goes with a message over HTTP, and an orchestrator whose mode DATA_ANALYSIS brings an agent that computes with it.
import { createClient } from "@loopwright/client";
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { dataAnalysisTool } from "@loopwright/tools-data";
import { createSessionTools } from "@loopwright/tools-registry";

const store = memoryStore();
// In place of these two scripts, your model.
const analyst = scripted([
  { calls: [{ name: "describe_tables", args: {} }] },
  { calls: [{ name: "query_tables", args: { sql: "SELECT region, sum(units) AS units FROM sales GROUP BY region ORDER BY 2 DESC" } }] },
  { text: "South has sold 39 units, North 3: SELECT region, sum(units) ... GROUP BY region." },
]);
const main = scripted([
  { calls: [{ name: "data_analysis_tool", args: { question: "Units by region?" } }] },
  { text: "South, with 39 units." },
  { text: "Hello." },
]);

const tools = createSessionTools({
  sources: { companions: [{ tool: dataAnalysisTool({ provider: analyst, store }), modes: ["DATA_ANALYSIS"] }] },
});
const agent = createAgent({ name: "main", provider: main, tools: tools.tools, hooks: [tools.hooks] });
const server = createServer({
  runtime: createRuntime({ agents: [agent], store }),
  labels: { modes: ["DATA_ANALYSIS"] },
});
const client = createClient({
  url: "http://localhost",
  fetch: (request) => server.fetch(request, { remoteAddress: "127.0.0.1" }),
});

const csv = new Blob(["region,units\nNorth,3\nSouth,39\n"], { type: "text/csv" });
const { blob } = await client.uploadFile(csv, "sales.csv");
const asked = client.execute("Which region sold most?", { context: {}, modes: ["DATA_ANALYSIS"], attachments: [blob] });
console.log((await asked.result()).text);
console.log(JSON.stringify(analyst.requests.at(-1)?.messages).includes("| South | 39 |"));
await client.execute("Hi", { sessionId: asked.sessionId }).result();
console.log(main.requests.map(({ tools: shown = [] }) => shown.length).join(", "));
await server.close();
