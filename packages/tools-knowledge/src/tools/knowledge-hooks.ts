import type { Hooks, Json, JsonObject, Message, UserMessage } from "@loopwright/core";
import { chatbotToolName, ragToolName, type ShownPassage } from "./rag-tool.ts";

/** Bytes of pasted passages that a run keeps for its requests: the state of hooks has room for 16 KiB. */
const pastedBytesMax = 12 * 1024;

/** The member of the state that holds the passages. */
const member = "pasted";

/**
 * What the tools of this package need beside themselves, as one set of hooks:
 *
 * - Passages of pasted texts that `rag_tool` found stand in each further request of the run before the last message of the user whose first part is a text:
 *   the passages, a line break, `User Query: ` and what the user wrote. In the stored result they are taken out. The messages of the session stay.
 *   At most 12 KiB of them are moved; the others stay in the result.
 * - A call of `chatbot_tool` with `shouldUseKnowledgeBase` forces `rag_tool` for the next model call, and for no other.
 */
export function knowledgeHooks(): Hooks {
  return {
    name: "knowledge",
    review({ call, outcome, output, state }) {
      if (outcome !== "ok") return undefined;
      if (call.name === chatbotToolName) return call.args["shouldUseKnowledgeBase"] === true ? { force: ragToolName } : undefined;
      if (call.name !== ragToolName) return undefined;
      const result = ragOutputOf(output);
      const found = result && shownIn(result["pastedTextEmbeddings"]);
      if (!result || !found || found.length === 0) return undefined;
      const { kept, left } = fitting(shownIn(state[member]), found);
      return {
        state: { [member]: kept as unknown as Json },
        output: { ...result, pastedTextEmbeddings: left as unknown as Json },
        reason: "Passages of pasted texts stand before the question.",
      };
    },
    prepare({ messages, state }) {
      const pasted = shownIn(state[member]);
      return pasted.length === 0
        ? undefined
        : {
            messages: withPassages(
              messages,
              pasted.map(({ text }) => text),
            ),
          };
    },
  };
}

function ragOutputOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    // Another hook has put a text in its place.
    return undefined;
  }
}

function shownIn(value: Json | undefined): readonly ShownPassage[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each): each is JsonObject & ShownPassage => typeof (each as JsonObject | null)?.["text"] === "string");
}

/** The passages of a run with what was found now, each once, and what does not fit beside them. */
function fitting(known: readonly ShownPassage[], found: readonly ShownPassage[]) {
  const kept = [...known];
  const left: ShownPassage[] = [];
  const encoder = new TextEncoder();
  for (const passage of found) {
    if (kept.some(({ source }) => source === passage.source)) continue;
    if (encoder.encode(JSON.stringify([...kept, passage])).length <= pastedBytesMax) kept.push(passage);
    else left.push(passage);
  }
  return { kept, left };
}

/** The messages with the passages before the last message of a user whose first part is a text; the given ones stay as they are. */
function withPassages(messages: readonly Message[], passages: readonly string[]): readonly Message[] {
  const at = messages.findLastIndex((message) => message.role === "user" && startsWithText(message));
  const message = messages[at];
  if (message?.role !== "user") return messages;
  return messages.with(at, { ...message, content: behind(passages.join("\n\n"), message.content) });
}

function startsWithText({ content }: UserMessage): boolean {
  return typeof content === "string" || content[0]?.type === "text";
}

function behind(passages: string, content: UserMessage["content"]): UserMessage["content"] {
  const asked = (text: string): string => `${passages}\nUser Query: ${text}`;
  if (typeof content === "string") return asked(content);
  const [first, ...others] = content;
  return first?.type === "text" ? [{ ...first, text: asked(first.text) }, ...others] : content;
}
