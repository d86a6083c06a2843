/*
 * Owns: what follows from the results of the search of attachments and of the chatbot. Does not own: these tools.
 */
import type { Hooks, JsonObject, Message, UserMessage } from "@loopwright/core";
import { toolNames } from "@loopwright/tools-registry";

/** Characters of pasted text that a run keeps for its next requests: hooks keep 16 KiB in all. */
const pastedMax = 8_000;

/**
 * The search of attachments returns passages of pasted text as `pastedTextEmbeddings`: they move from its result to the front of the user's message. A
 * chatbot that is called with `shouldUseKnowledgeBase` is followed by that search.
 */
export function retrievalHooks(): Hooks {
  return {
    name: "retrieval",
    review({ call, output, outcome }) {
      if (outcome !== "ok") return undefined;
      if (call.name === toolNames.chatbot && call.args["shouldUseKnowledgeBase"] === true) return { force: toolNames.rag };
      const result = call.name === toolNames.rag ? parsed(output) : undefined;
      const passages = (Array.isArray(result?.["pastedTextEmbeddings"]) ? result["pastedTextEmbeddings"] : []).filter(
        (one): one is string => typeof one === "string" && one !== "",
      );
      if (passages.length === 0) return undefined;
      return { output: { ...result, pastedTextEmbeddings: [] }, state: { pasted: passages.join("\n").slice(0, pastedMax) } };
    },
    prepare({ state, messages }) {
      const pasted = state["pasted"];
      return typeof pasted === "string" ? { messages: withPasted(messages, pasted) } : undefined;
    },
  };
}

/** The conversation with the text in front of the last message of the user that begins with text. */
function withPasted(messages: readonly Message[], pasted: string): readonly Message[] {
  const at = messages.findLastIndex((message) => message.role === "user" && textOf(message) !== undefined);
  return messages.map((message, index) => {
    if (index !== at || message.role !== "user") return message;
    const text = `${pasted}\nUser Query: ${textOf(message)}`;
    return { ...message, content: typeof message.content === "string" ? text : [{ type: "text", text }, ...message.content.slice(1)] };
  });
}

function textOf({ content }: UserMessage): string | undefined {
  if (typeof content === "string") return content;
  const [first] = content;
  return first?.type === "text" ? first.text : undefined;
}

function parsed(output: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(output);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
