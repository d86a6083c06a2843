import { type Message, partsOf, type ResultPart } from "@loopwright/core";
import { opened } from "@loopwright/tools-registry";
import { neutralise, oneLine } from "../terminal/neutralise.ts";
import type { Block, ToolBlock } from "./screen.ts";

/** Characters of a tool's output that are kept for the screen. */
const outputShownMax = 20_000;

/** A tool on the screen, with nothing in it yet. */
export function toolBlock({ name, ...rest }: Pick<ToolBlock, "id" | "name" | "args" | "since" | "phase">): ToolBlock {
  const clean = oneLine(name, 64);
  return { kind: "tool", name: clean, label: clean, output: "", isDone: false, ...rest };
}

/** The blocks with the open tool of this id changed. */
export function changeTool(blocks: readonly Block[], id: string, change: (tool: ToolBlock) => ToolBlock): readonly Block[] {
  const at = blocks.findLastIndex((block) => block.kind === "tool" && block.id === id);
  const tool = blocks[at];
  return tool?.kind === "tool" && !tool.isDone ? blocks.with(at, change(tool)) : blocks;
}

/** The blocks with the tool of this result ended, unless it was. */
export function endTool(blocks: readonly Block[], message: Extract<Message, { role: "tool_result" }>): readonly Block[] {
  const output = outputText(typeof message.content === "string" ? partsOf<ResultPart>(message.content) : message.content);
  return changeTool(blocks, message.callKey ?? message.toolCallId, (tool) => ({
    ...tool,
    phase: "ended",
    isDone: true,
    outcome: message.outcome ?? (message.isError ? "error" : "ok"),
    output,
  }));
}

/** The blocks with a block for a result whose call stands in the past already, cut off by a crash or waiting for an answer. */
export function lateTool(blocks: readonly Block[], message: Extract<Message, { role: "tool_result" }>, now: number): readonly Block[] {
  const id = message.callKey ?? message.toolCallId;
  if (blocks.some((block) => block.kind === "tool" && block.id === id && block.phase === "ended")) return blocks;
  const name = message.toolName ?? blocks.flatMap((block) => (block.kind === "tool" && block.id === id ? [block.name] : []))[0] ?? "tool";
  return endTool([...blocks, toolBlock({ id, name, args: "", since: now, phase: "running" })], message);
}

/** The output of a tool as text, cut to what is kept for the screen. */
export function outputText(parts: readonly ResultPart[]): string {
  const text = parts.map((part) =>
    // That the user has seen it already is for the model.
    part.type === "text" ? opened(part.text) : part.type === "json" ? JSON.stringify(part.value) : `[${part.type}]`,
  );
  return neutralise(text.join("\n").slice(0, outputShownMax));
}

/** The arguments as JSON text, or as the model wrote them where they are no JSON. */
export function argsText(call: { readonly args: object; readonly argsText?: string }): string {
  return neutralise(call.argsText ?? JSON.stringify(call.args));
}

/** A piece of running output added, up to what is kept for the screen. */
export function growOutput(tool: ToolBlock, delta: string): ToolBlock {
  return tool.output.length >= outputShownMax ? tool : { ...tool, output: (tool.output + neutralise(delta)).slice(0, outputShownMax) };
}

/** The running output replaced. */
export function replaceOutput(tool: ToolBlock, output: string): ToolBlock {
  return { ...tool, output: neutralise(output.slice(0, outputShownMax)) };
}
