import { type AssistantPart, type Message, textOf } from "@loopwright/core";
import { neutralise, oneLine } from "../terminal/neutralise.ts";
import { type Block, emptyScreen, type Screen } from "./screen.ts";
import { argsText, toolBlock } from "./tool-blocks.ts";

/** The streamed blocks, corrected by the recorded message: lost text and blocks that were never streamed are added. */
export function reconcile(screen: Screen, parts: readonly AssistantPart[], now: number): readonly Block[] {
  const prefix = `${screen.lane ?? "none"}.`;
  const mine = (block: Block): boolean => block.id.startsWith(prefix);
  let blocks = screen.blocks;
  const seen = { text: 0, thinking: 0 };
  for (const [place, part] of parts.entries()) {
    if (part.type === "tool_call") {
      if (blocks.some((block) => block.kind === "tool" && block.id === part.callKey)) continue;
      const fresh = toolBlock({ id: part.callKey, name: part.name, args: argsText(part), since: now, phase: "waiting" });
      const at = blocks.findIndex((block) => mine(block) && block.kind === "tool" && block.name === fresh.name);
      blocks = at < 0 ? [...blocks, fresh] : blocks.with(at, { ...blocks[at], ...fresh });
    } else if (part.type === "text" || part.type === "thinking") {
      const text = neutralise(part.text);
      const own = blocks.filter((block) => mine(block) && block.kind === part.type)[seen[part.type]++];
      const at = own ? blocks.indexOf(own) : -1;
      if (own && "text" in own) blocks = own.text === text ? blocks : blocks.with(at, { ...own, text } as Block);
      else if (text !== "") blocks = [...blocks, partBlock(part.type, `${prefix}late-${place}`, { text, now })];
    }
  }
  return blocks;
}

function partBlock(kind: "text" | "thinking", id: string, { text, now }: { text: string; now: number }): Block {
  return kind === "text" ? { kind, id, text, isDone: false } : { kind, id, text, isDone: false, since: now };
}

/** The blocks, with those that `which` selects marked as ended. */
export function finishBlocks(blocks: readonly Block[], which: (block: Block) => boolean, now: number): readonly Block[] {
  return blocks.map((block) => {
    if (block.isDone || !which(block)) return block;
    return block.kind === "thinking" ? { ...block, isDone: true, durationMs: now - block.since } : ({ ...block, isDone: true } as Block);
  });
}

/** The blocks of one recorded message. The caller adds results to their calls. */
export function messageBlocks(message: Message, id: string): readonly Block[] {
  switch (message.role) {
    case "user":
      return [{ kind: "user", id, text: userText(message), isDone: true, isPast: id.startsWith("past-") }];
    case "notice":
      return [{ kind: "notice", id, tone: "quiet", lines: [oneLine(message.text, 200)], isDone: true }];
    case "tool_result":
      return [];
    case "assistant":
      return reconcile(emptyScreen, message.content, 0).map((block) =>
        block.kind === "text" || block.kind === "thinking" ? { ...block, id: `${id}-${block.id}`, isDone: true } : block,
      );
    default:
      return message satisfies never;
  }
}

function userText(message: Extract<Message, { role: "user" }>): string {
  const others = typeof message.content === "string" ? [] : message.content.filter((part) => part.type !== "text");
  return [neutralise(textOf(message)), ...others.map((part) => `[${part.type}]`)].join(" ").trim();
}
