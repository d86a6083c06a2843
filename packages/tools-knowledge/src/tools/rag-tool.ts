import {
  type AssistantMessage,
  callsOf,
  createSimpleTool,
  isAgentError,
  type Message,
  type Tool,
  type ToolContext,
} from "@loopwright/core";
import { z } from "zod";
import { chatbotCollection, type FoundPassage, type Knowledge, sessionCollection, sharedCollection } from "../knowledge.ts";

/** Names that other packages know these tools by. */
export const ragToolName = "rag_tool";
export const chatbotToolName = "chatbot_tool";

/** A passage as the model reads it. */
export interface ShownPassage extends Pick<FoundPassage, "source" | "title" | "text"> {}

/** What `rag_tool` gives. */
export interface RagOutput {
  readonly passages: readonly ShownPassage[];
  /** Texts of passages of what a person pasted. `knowledgeHooks` puts them before the question and takes them out of the stored result. */
  readonly pastedTextEmbeddings: readonly string[];
}

export interface RagToolOptions {
  readonly knowledge: Knowledge;
  /** Collections of the caller's scope that a call searches. Default: what is shared, what was attached to the session, and its chatbots. */
  readonly collections?: (context: Pick<ToolContext, "access" | "labels" | "session">) => readonly string[];
  /** Passages where a call names no number. Default 5. */
  readonly results?: number;
}

export interface RagArguments {
  readonly query: string;
  readonly limit?: number | undefined;
}

const parameters: z.ZodType<RagArguments> = z.object({
  query: z.string().min(1).describe("What to look for: a question or the words that its answer would have."),
  limit: z.number().int().min(1).max(20).optional().describe("How many passages. Default 5."),
});

/**
 * The tool `rag_tool`: searches what the caller's scope knows and gives passages with their sources. Calls of one turn run one after the other, because
 * `knowledgeHooks` collects what they find.
 */
export function ragTool({ knowledge, collections = collectionsOf, results = 5 }: RagToolOptions): Tool<RagArguments> {
  return createSimpleTool(
    {
      name: ragToolName,
      label: "Search knowledge",
      description:
        "Searches attached documents, pasted texts and the knowledge base. Gives passages with their `source`, which an answer should name. An empty list: nothing fits.",
      parameters,
      replay: "pure",
      sequential: true,
    },
    async ({ query, limit = results }, context) => {
      const where = { scope: context.access.scope, collections: collections(context) };
      const { passages, ranking, usage, problem } = await knowledge.search(where, query, { limit, signal: context.signal });
      const { embedder } = knowledge;
      if (usage && embedder) context.addUsage({ ...usage, provider: embedder.name, model: embedder.model });
      if (problem !== undefined)
        context.logger.log("warn", "The embedder failed, so the knowledge was searched by words alone.", {
          code: isAgentError(problem) ? problem.code : "INTERNAL",
        });
      const isPasted = ({ kind }: FoundPassage): boolean => kind === "pasted";
      const output: RagOutput = {
        passages: passages.filter((each) => !isPasted(each)).map(({ source, title, text }) => ({ source, title, text })),
        pastedTextEmbeddings: passages.filter(isPasted).map(({ text }) => text),
      };
      return { output, details: { ranking, sources: passages.map(({ source }) => source) } };
    },
  );
}

/** What is shared, what was attached to the session, and what the chatbots know that the session has asked or that its label `chatbotId` names. */
function collectionsOf({ labels, session }: Pick<ToolContext, "labels" | "session">): readonly string[] {
  const named = labels["chatbotId"];
  const chatbots = new Set([...(named ? [named] : []), ...askedChatbots(session.messages())]);
  return [sharedCollection, sessionCollection(session.id), ...[...chatbots].map(chatbotCollection)];
}

function askedChatbots(messages: readonly Message[]): readonly string[] {
  const calls = messages.filter((message): message is AssistantMessage => message.role === "assistant").flatMap(callsOf);
  return calls.flatMap(({ name, args }) => {
    const chatbot = name === chatbotToolName ? args["chatbot"] : undefined;
    return typeof chatbot === "string" && /^[\w.-]{1,100}$/.test(chatbot) ? [chatbot] : [];
  });
}
