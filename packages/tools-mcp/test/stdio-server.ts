/** An MCP server that runs as a child process: `node stdio-server.ts`. */
import { spawn } from "node:child_process";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "child", version: "1.0.0" });
  server.registerTool("environment", { description: "Lists its variables.", inputSchema: z.object({}) }, () => ({
    content: [{ type: "text", text: JSON.stringify(process.env) }],
  }));
  server.registerTool("fork", { description: "Starts a process that would outlive it.", inputSchema: z.object({}) }, () => {
    const grandchild = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
    return { content: [{ type: "text", text: JSON.stringify({ server: process.pid, grandchild: grandchild.pid }) }] };
  });
  server.registerTool("die", { description: "Ends in the middle of the call.", inputSchema: z.object({}) }, () => process.exit(3));
  return server;
});
