import type { Frame } from "../markdown/frame.ts";
import { breakLines, fitLine } from "../terminal/lines.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { durationText } from "./durations.ts";
import type { ToolBlock } from "./screen.ts";

/** Lines of a tool's output that are shown in full. */
const detailLinesMax = 40;

/** A tool on the screen: its name and arguments, then its result or what it is doing, each on one line; with `detail` in full. */
export function toolLines(
  tool: ToolBlock,
  frame: Frame,
  { detail, now }: { readonly detail: boolean; readonly now: number },
): readonly string[] {
  const { style, width } = frame;
  const failed = tool.phase === "ended" && tool.outcome !== "ok";
  const mark = failed ? style.red("✗") : tool.phase === "ended" ? style.green("●") : style.yellow("○");
  const named = `${mark} ${style.bold(tool.label)}`;
  const time = timeOf(tool, now);
  const args = tool.args === "" || tool.args === "{}" ? "" : ` ${style.dim(oneLine(tool.args, 400))}`;
  const state = stateText(tool);
  if (!detail) {
    const tail = time ? ` · ${time}` : "";
    const second = fitLine(oneLine(state, 400), Math.max(10, width - 4 - tail.length)) + style.dim(tail);
    return [fitLine(named + args, width), `  ${style.dim("└")} ${failed ? style.red(second) : style.dim(second)}`];
  }
  const shown = prettyJson(tool.args).split("\n");
  const output = (tool.output || state).split("\n");
  const cut = output.length > detailLinesMax ? [`… ${output.length - detailLinesMax} more lines`] : [];
  const lines = [...(args ? shown : []), ...output.slice(0, detailLinesMax), ...cut, ...(time ? [time] : [])];
  return [fitLine(named, width), ...lines.flatMap((line) => breakLines(line, width - 4)).map((line) => style.dim(`  │ ${line}`))];
}

function timeOf(tool: ToolBlock, now: number): string | undefined {
  if (tool.phase === "running" && now - tool.since >= 1_000) return durationText(Math.floor((now - tool.since) / 1_000) * 1_000);
  return tool.phase === "ended" && tool.durationMs !== undefined ? durationText(tool.durationMs) : undefined;
}

function stateText(tool: ToolBlock): string {
  switch (tool.phase) {
    case "writing":
      return "the model writes the arguments…";
    case "waiting":
      return tool.isDone ? "had not ended" : "waits for its turn";
    case "running":
      return tool.step ?? (tool.output.trim().split("\n").at(-1) || "runs…");
    case "asking":
      return "asks you";
    case "ended":
      return `${tool.outcome === "ok" ? "" : `${tool.outcome ?? "error"}: `}${tool.output.trim() || "(no output)"}`;
    default:
      return tool.phase satisfies never;
  }
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
