import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { textPieces } from "../../server/script.ts";
import { paceOf, type Serve } from "../served.ts";

/** The SDK of MCP with a handler that writes the same pieces as progress and returns their text: no run, no log. */
function bareServer(): McpServer {
  const server = new McpServer({ name: "bare", version: "1.0.0" }, { capabilities: { tools: { listChanged: false } } });
  const shown = { description: "Answers.", inputSchema: z.object({ input: z.string() }), outputSchema: z.object({ text: z.string() }) };
  server.registerTool("ask_bench", shown, async ({ input }, { mcpReq }) => {
    const { deltas, gapMs } = paceOf(input);
    const { progressToken = "" } = mcpReq._meta ?? {};
    let text = "";
    for (const message of textPieces(deltas)) {
      await wait(gapMs);
      text += message;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: text.length, message } });
    }
    return { content: [{ type: "text", text }], structuredContent: { text } };
  });
  return server;
}

/** The bare handler on `node:http`. */
export const serve: Serve = async () => {
  const handler = createMcpHandler(bareServer, { responseMode: "sse" });
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const headers = new Headers(request.headers as Record<string, string>);
    const asked = new Request(`http://${request.headers.host}${request.url}`, { method: "POST", headers });
    const answer = await handler.fetch(asked, { parsedBody: JSON.parse(Buffer.concat(pieces).toString()) });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
    else response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
