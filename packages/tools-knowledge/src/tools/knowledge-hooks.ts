import type { Hooks, Json, JsonObject } from "@loopwright/core";
import { chatbotToolName, ragToolName } from "./rag-tool.ts";

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
      const found = result && textsIn(result["pastedTextEmbeddings"]);
      if (!result || !found || found.length === 0) return undefined;
      const { kept, left } = fitting(textsIn(state[member]), found);
      return {
        state: { [member]: kept },
        output: { ...result, pastedTextEmbeddings: left },
        reason: "Passages of pasted texts stand before the question.",
      };
    },
    prepare({ state }) {
      const pasted = textsIn(state[member]);
      return pasted.length === 0 ? undefined : { inputPrefix: `${pasted.join("\n\n")}\nUser Query: ` };
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

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** The passages of a run with what was found now, each once, and what does not fit beside them. */
function fitting(
  known: readonly string[],
  found: readonly string[],
): { readonly kept: readonly string[]; readonly left: readonly string[] } {
  const kept = [...known];
  const left: string[] = [];
  const encoder = new TextEncoder();
  for (const passage of found) {
    if (kept.includes(passage)) continue;
    if (encoder.encode(JSON.stringify([...kept, passage])).length <= pastedBytesMax) kept.push(passage);
    else left.push(passage);
  }
  return { kept, left };
}
