// A knowledge base, a chatbot and lists of tools by mode: `rag_tool` comes with the modes RAG and CHATBOT, `chatbot_tool` with CHATBOT alone.
import { createAgent, createSession, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { chatbotCollection, createKnowledge, knowledgeTools, memoryKnowledgeStore } from "@loopwright/tools-knowledge";
import { createSessionTools } from "@loopwright/tools-registry";

const knowledge = createKnowledge({ store: memoryKnowledgeStore() });
await knowledge.add({ scope: "local", collection: chatbotCollection("pilot") }, { id: "chart", text: "The harbour is nine metres deep." });
await knowledge.add({ scope: "local" }, { id: "prices", text: "A berth costs 40 a night." });

const pilot = scripted([{ calls: [{ name: "rag_tool", args: { query: "deep harbour" } }] }, { text: "Nine metres." }]);
const { entries, hooks } = knowledgeTools({
  knowledge,
  chatbots: { pilot: { provider: pilot, prompt: "You are a harbour pilot.", description: "Knows depths and tides." } },
});
const tools = createSessionTools({ sources: { companions: entries } });
const provider = scripted([
  { text: "Hello." },
  { calls: [{ name: "rag_tool", args: { query: "berth" } }] },
  { text: "40." },
  { calls: [{ name: "chatbot_tool", args: { chatbot: "pilot", question: "How deep is it?", shouldUseKnowledgeBase: true } }] },
  { calls: [{ name: "rag_tool", args: { query: "how deep" } }] },
  { text: "Nine metres, as the chart has it." },
]);
const agent = createAgent({ name: "harbour", provider, tools: tools.tools, hooks: [tools.hooks, hooks] });
const session = createSession({ agent });

await execute(session, "Hello.").result();
await execute(session, "What is a berth?", { labels: { modes: "RAG" } }).result();
const { text } = await execute(session, "How deep is it?", { labels: { modes: "CHATBOT" } }).result();
for (const { tools: shown = [], toolChoice = "auto" } of provider.requests)
  console.log(
    shown.map(({ name }) => name).join(" and ") || "no tool",
    typeof toolChoice === "string" ? toolChoice : `must use ${toolChoice.tool}`,
  );
console.log(text);
