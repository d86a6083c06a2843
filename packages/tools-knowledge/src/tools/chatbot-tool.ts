import { type Agent, AgentError, type AgentModel, type AgentSettings, createAgent, createSimpleTool, type Tool } from "@loopwright/core";
import { z } from "zod";
import { chatbotCollection, type Knowledge } from "../knowledge.ts";
import { knowledgeHooks } from "./knowledge-hooks.ts";
import { chatbotToolName, ragTool } from "./rag-tool.ts";

/** A chatbot: a prompt and a model, with the collection `chatbotCollection(name)` as its knowledge. */
export type Chatbot = AgentModel &
  Pick<AgentSettings, "prompt" | "limits" | "temperature" | "maxTokens" | "reasoning" | "prices"> & {
    /** For the model that asks it: what it is for. */
    readonly description: string;
  };

/** Chatbots by name: 1 to 50 letters, digits, `_` and `-`. */
export interface Chatbots {
  readonly [name: string]: Chatbot;
}

export interface ChatbotArguments {
  readonly chatbot: string;
  readonly question: string;
  readonly shouldUseKnowledgeBase?: boolean | undefined;
}

/**
 * The tool `chatbot_tool`: asks one of the chatbots, which answers as a child of the run and can search its own knowledge. With `shouldUseKnowledgeBase`
 * the next model call must use `rag_tool`, which then searches the chatbot's knowledge, too (`knowledgeHooks`).
 * @throws AgentError CONFIG_INVALID
 */
export function chatbotTool({
  knowledge,
  chatbots,
}: {
  readonly knowledge: Knowledge;
  readonly chatbots: Chatbots;
}): Tool<ChatbotArguments> {
  const agents = new Map(Object.entries(chatbots).map(([name, chatbot]) => [name, agentOf(name, chatbot, knowledge)]));
  const [first, ...others] = agents.keys();
  if (first === undefined)
    throw new AgentError("CONFIG_INVALID", { message: "There is no chatbot.", fix: "Name at least one in `chatbots`." });
  const list = Object.entries(chatbots).map(([name, { description }]) => `${name}: ${description}`);
  const parameters: z.ZodType<ChatbotArguments> = z.object({
    chatbot: z.enum([first, ...others]).describe(`Which one. ${list.join(" ")}`),
    question: z.string().min(1).describe("The whole question: the chatbot sees nothing else of this conversation."),
    shouldUseKnowledgeBase: z.boolean().optional().describe("True: search the chatbot's knowledge base yourself next. Default false."),
  });
  return createSimpleTool(
    {
      name: chatbotToolName,
      label: "Ask a chatbot",
      description: "Asks a chatbot that was set up for a subject, and gives its answer.",
      parameters,
      // The same call finds the same child.
      replay: "idempotent",
      timeoutMs: 0,
    },
    async ({ chatbot, question }, { child }) => {
      const agent = agents.get(chatbot);
      if (!agent) throw new AgentError("INPUT_INVALID", { message: "There is no such chatbot." });
      const end = await child("chatbot", agent, question);
      if (end.error) throw end.error;
      return { output: end.text, details: { chatbot, session: end.session } };
    },
  );
}

function agentOf(name: string, { description: _, ...settings }: Chatbot, knowledge: Knowledge): Agent {
  if (!/^[\w-]{1,50}$/.test(name))
    throw new AgentError("CONFIG_INVALID", {
      message: `The name of the chatbot ${JSON.stringify(name.slice(0, 60))} is not usable.`,
      fix: "Use 1 to 50 letters, digits, `_` and `-`.",
    });
  const own = ragTool({ knowledge, collections: () => [chatbotCollection(name)] });
  return createAgent<unknown>({ ...settings, name: `chatbot-${name}`, tools: [own], hooks: [knowledgeHooks()] });
}
