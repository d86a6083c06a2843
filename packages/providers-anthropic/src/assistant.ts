import type { AssistantMessage, Json, JsonObject, ToolCallPart } from "@loopwright/core";
import { cleanId, cleanName } from "./call-ids.ts";
import { type Block, textBlocks } from "./content.ts";
import { vendor } from "./options.ts";

/** An assistant message in the vendor's form, before the ids of its calls are settled. */
export interface RenderedAssistant {
  readonly blocks: readonly Block[];
  /** Where the calls are among the blocks, in order; their blocks have `id` so far. */
  readonly calls: readonly { readonly at: number; readonly id: string; readonly part: ToolCallPart }[];
  /** Ids of server tool uses that have no result in this message. */
  readonly openServerUses: readonly string[];
  /** Ids of the server tool uses that this message has results for. */
  readonly serverResults: readonly string[];
}

const rendered = new WeakMap<AssistantMessage, RenderedAssistant>();

/** The message rendered, once and then from the cache. Own opaque parts are verbatim, foreign ones and foreign thinking are left out. */
export function renderAssistant(message: AssistantMessage): RenderedAssistant {
  let made = rendered.get(message);
  if (!made) {
    made = render(message);
    rendered.set(message, made);
  }
  return made;
}

function render(message: AssistantMessage): RenderedAssistant {
  const blocks: Block[] = [];
  const calls: { at: number; id: string; part: ToolCallPart }[] = [];
  const uses: string[] = [];
  const serverResults: string[] = [];
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        blocks.push(...textBlocks(part.text).map((block) => withOwn(block, part.opaque)));
        break;
      case "thinking": {
        const signature = own(part.opaque)?.["signature"];
        if (typeof signature === "string") blocks.push({ type: "thinking", thinking: part.text, signature });
        break;
      }
      case "tool_call": {
        const id = cleanId(part.id);
        calls.push({ at: blocks.length, id, part });
        blocks.push(withOwn({ type: "tool_use", id, name: cleanName(part.name), input: part.args }, part.opaque));
        break;
      }
      case "opaque": {
        const data = own(part);
        if (!data || typeof data["type"] !== "string") break;
        blocks.push({ ...data, type: data["type"] });
        if (isServerUse(data)) uses.push(data["id"]);
        if (typeof data["tool_use_id"] === "string") serverResults.push(data["tool_use_id"]);
        break;
      }
      case "image":
        blocks.push({ type: "text", text: `[an image, ${part.mediaType}]` });
        break;
      default:
        part satisfies never;
    }
  }
  const openServerUses = uses.filter((id) => !serverResults.includes(id));
  return { blocks: withoutTrailingThinking(blocks), calls, openServerUses, serverResults };
}

/** The blocks without server tool uses of these ids. */
export function withoutServerUses(blocks: readonly Block[], ids: readonly string[]): readonly Block[] {
  return withoutTrailingThinking(blocks.filter((block) => !(isServerUse(block) && ids.includes(block["id"]))));
}

/** "The final block in an assistant message cannot be `thinking`": an answer that was stopped while it thought leaves such a one. */
function withoutTrailingThinking(blocks: readonly Block[]): readonly Block[] {
  let end = blocks.length;
  while (end > 0 && (blocks[end - 1]?.type === "thinking" || blocks[end - 1]?.type === "redacted_thinking")) end--;
  return end === blocks.length ? blocks : blocks.slice(0, end);
}

function isServerUse(data: JsonObject): data is JsonObject & { readonly id: string } {
  const type = data["type"];
  return typeof type === "string" && type !== "tool_use" && type.endsWith("tool_use") && typeof data["id"] === "string";
}

type MaybeOpaque = { readonly vendor: string; readonly data: Json } | undefined;

/** The data if it is of this wire, else nothing: a foreign opaque is dropped as a unit. */
function own(opaque: MaybeOpaque): JsonObject | undefined {
  if (opaque?.vendor !== vendor) return undefined;
  const { data } = opaque;
  return isJsonObject(data) ? data : undefined;
}

function isJsonObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The citations of a text, the caller of a call. */
function withOwn(block: Block, opaque: MaybeOpaque): Block {
  const data = own(opaque);
  return data ? { ...block, ...data, type: block.type } : block;
}
