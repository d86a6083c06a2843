/** One request of a protocol whose answer is a stream, and how its pieces are counted. */
export interface ProtocolRequest {
  readonly id: string;
  readonly title: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Stands once in each event with a piece of the answer. */
  readonly word: string;
  bodyOf(input: string): object;
}

const id = (): string => crypto.randomUUID();

/** Our own stream, to which the others are compared. */
export const ownStream: ProtocolRequest = {
  id: "own",
  title: "our own stream",
  path: "/api/agent/execute",
  word: "event: text_delta\n",
  bodyOf: (input) => ({ input, agent: "bench" }),
};

/** Over an SDK of its own, which is compared with that SDK alone. */
export const mcpCall: ProtocolRequest = {
  id: "mcp",
  title: "MCP",
  path: "/mcp",
  headers: {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "ask_bench",
  },
  word: '"notifications/progress"',
  bodyOf: (input) => ({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: {
      ...{ name: "ask_bench", arguments: { input } },
      _meta: {
        progressToken: 1,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
      },
    },
  }),
};

/** The protocols of our own mappings. */
export const mappedProtocols: readonly ProtocolRequest[] = [
  {
    ...{ id: "a2a", title: "A2A 1.0", path: "/a2a/bench", headers: { "a2a-version": "1.0" }, word: '"artifactUpdate"' },
    bodyOf: (text) => ({
      ...{ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage" },
      params: { message: { messageId: id(), role: "ROLE_USER", parts: [{ text }] } },
    }),
  },
  {
    ...{ id: "a2a-03", title: "A2A 0.3", path: "/a2a/bench", word: '"artifact-update"' },
    bodyOf: (text) => ({
      ...{ jsonrpc: "2.0", id: 1, method: "message/stream" },
      params: { message: { kind: "message", messageId: id(), role: "user", parts: [{ kind: "text", text }] } },
    }),
  },
  {
    ...{ id: "ag-ui", title: "AG-UI", path: "/ag-ui/bench", word: '"TEXT_MESSAGE_CONTENT"' },
    bodyOf: (content) => ({
      ...{ threadId: id(), runId: id(), protocolVersion: "1.0", tools: [], context: [], state: {}, forwardedProps: {} },
      messages: [{ id: id(), role: "user", content }],
    }),
  },
  {
    ...{ id: "ai-sdk", title: "AI SDK", path: "/api/chat", word: '"text-delta"' },
    bodyOf: (text) => ({
      ...{ id: id(), trigger: "submit-message" },
      messages: [{ id: id(), role: "user", parts: [{ type: "text", text }] }],
    }),
  },
  {
    ...{ id: "chat-completions", title: "chat completions", path: "/v1/chat/completions", word: '"delta":{"content":' },
    bodyOf: (content) => ({ model: "bench", stream: true, messages: [{ role: "user", content }] }),
  },
  {
    ...{ id: "responses", title: "responses", path: "/v1/responses", word: "event: response.output_text.delta\n" },
    bodyOf: (input) => ({ model: "bench", stream: true, input }),
  },
];
