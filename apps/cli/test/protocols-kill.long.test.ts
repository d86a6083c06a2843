import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { emptyDirectory } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

it("A host of MCP whose server is killed in the middle of an answer repeats its call, and gets the whole answer of one run", async () => {
  const cwd = await emptyDirectory();
  const flags = ["--protocols", "mcp"];
  const slow = await startServer({ cwd, flags, env: { LOOPWRIGHT_OFFLINE_PACE: "200" } });
  const connect = async (url: string): Promise<Client> => {
    const client = new Client({ name: "host", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    return client;
  };
  const call = { name: "ask_assistant", arguments: { input: "Tell me about yourself." }, _meta: { "loopwright/idempotencyKey": "call-1" } };

  const first = await connect(slow.url);
  const begun = Promise.withResolvers<string>();
  const cut = first.callTool(call, { onprogress: ({ message = "" }) => begun.resolve(message), timeout: 600_000 });
  // The client waits for the answer of a server that has died until it is closed.
  const end = cut.then(
    () => "answered",
    () => "cut",
  );
  const piece = await begun.promise;
  slow.child.kill("SIGKILL");
  await slow.ended;

  const next = await startServer({ cwd, flags, port: slow.port, env: { LOOPWRIGHT_OFFLINE_PACE: "0" } });
  const again = await connect(next.url);
  const result = await again.callTool(call, { timeout: 600_000 });
  const { text, status, session } = result.structuredContent as {
    readonly text: string;
    readonly status: string;
    readonly session: string;
  };
  expect(status).toBe("completed");
  expect(text.startsWith(piece)).toBe(true);
  const { messages } = await next.client.sessions.get(session);
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
  await first.close();
  expect(await end).toBe("cut");
  await again.close();
});
