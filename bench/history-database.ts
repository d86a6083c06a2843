/* Writes a session of so many messages into a new database, as a run of it would have: `history-database.ts <messages> <path>`. */
import { createAgent, createSession, execute, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { sqliteStore } from "@loopwright/store-sqlite";
import { modelName, sessionId, systemPrompt } from "./contenders/contender.ts";
import { historyText } from "./server/script.ts";

const [messagesArgument, path] = process.argv.slice(2);
if (!messagesArgument || !path) throw new Error("Usage: history-database.ts <messages> <path>");
const messages = Number(messagesArgument);

/** Answers with the message that belongs at this place of the conversation. */
const author: ModelProvider = {
  name: "openai",
  defaultModel: modelName,
  capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
  async *stream(): AsyncGenerator<readonly ModelChunk[], void> {
    yield [
      { type: "text", index: 0, delta: historyText(written + 1) },
      { type: "usage", usage: { input: 1200, output: 40 } },
      { type: "end", stopReason: "stop", raw: "stop" },
    ];
  },
};

let written = 0;
const store = sqliteStore({ path });
const session = createSession({ agent: createAgent({ name: "bench", provider: author, prompt: systemPrompt }), id: sessionId, store });
for (; written < messages; written += 2) {
  const { status, error } = await execute(session, historyText(written)).result();
  if (status !== "completed") throw error ?? new Error(status);
}
await session[Symbol.asyncDispose]();
await store.close();
process.stdout.write("{}");
