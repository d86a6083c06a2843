// An MCP server that runs as a child process: node weather.mjs
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  server.registerTool(
    "forecast",
    { description: "The weather of a city.", inputSchema: z.object({ city: z.string() }), annotations: { readOnlyHint: true } },
    ({ city }) => ({ content: [{ type: "text", text: process.env.WEATHER_KEY ? `Rain in ${city}.` : "The key is missing." }] }),
  );
  server.registerTool("set_weather", { description: "Sets the weather of a city.", inputSchema: z.object({ city: z.string() }) }, () => ({
    content: [{ type: "text", text: "It is set." }],
  }));
  return server;
});
