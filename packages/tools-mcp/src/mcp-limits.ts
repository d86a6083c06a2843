/** Bounds on what a server may send, and for how long it is waited for. */
export interface McpLimits {
  /** Milliseconds until a server is connected and has listed its tools. */
  readonly connectMs: number;
  /** Milliseconds without a call after which a connection is closed; it is opened again when it is needed. */
  readonly idleMs: number;
  /** Connections at once in this process. */
  readonly connectionsMax: number;
  /** Tools of all servers that an agent is shown. */
  readonly toolsMax: number;
  /** Characters of the description of a tool. */
  readonly descriptionMax: number;
  /** Characters of the schema of a tool as JSON; a tool with a larger one is left out. */
  readonly schemaMax: number;
  /** Bytes of one answer, and of everything that a child process writes between two requests. */
  readonly answerBytesMax: number;
  /** Milliseconds until a server that failed is tried again: doubled for each failure, up to 60 times as long. */
  readonly retryMs: number;
}

export const defaultMcpLimits: McpLimits = {
  connectMs: 20_000,
  idleMs: 300_000,
  connectionsMax: 64,
  toolsMax: 128,
  descriptionMax: 2_000,
  schemaMax: 32_768,
  answerBytesMax: 16_777_216,
  retryMs: 500,
};
