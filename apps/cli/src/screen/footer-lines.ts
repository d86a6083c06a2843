import type { Usage } from "@loopwright/core";
import type { Frame } from "../markdown/frame.ts";
import { fitLine } from "../terminal/lines.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { durationText } from "./durations.ts";
import type { Activity, Screen } from "./screen.ts";

/** What the footer needs beside the screen. */
export interface FooterState {
  readonly provider: string;
  readonly model: string;
  /** Size of the model's window in tokens. */
  readonly contextMax: number | undefined;
  readonly now: number;
  /** When the present activity began. */
  readonly since: number;
  readonly hint: string | undefined;
}

const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const words: Readonly<Record<Exclude<Activity, "idle" | "retrying">, string>> = {
  waiting: "waits for the model",
  thinking: "thinks",
  writing: "answers",
  tools: "runs tools",
  asking: "asks you",
  aborting: "stops",
};

/** Two lines: what happens and which keys matter; what it cost so far. */
export function footerLines(screen: Screen, state: FooterState, { style, width }: Frame): readonly string[] {
  return [activityLine(screen, state), accountLine(screen, state)].map((line) => style.dim(fitLine(line, width)));
}

function activityLine({ activity, retryAt }: Screen, { now, since, hint }: FooterState): string {
  if (hint) return hint;
  if (activity === "idle") return "Enter sends · \\ Enter new line · /help · Ctrl+C twice quits";
  if (activity === "asking") return "The agent waits for your answer · Enter sends it · Esc stops";
  const turning = spinner[Math.floor(now / 120) % spinner.length] ?? "";
  const what = activity === "retrying" ? `tries again in ${durationText(Math.max(0, (retryAt ?? now) - now))}` : words[activity];
  const elapsed = now - since >= 1_000 ? ` ${durationText(Math.floor((now - since) / 1_000) * 1_000)}` : "";
  return `${turning} ${what}${elapsed} · Esc stops · Enter steers`;
}

function accountLine(screen: Screen, { provider, model, contextMax }: FooterState): string {
  const parts = [`${oneLine(provider, 30)} ${oneLine(model, 60)}`, ...usageParts(screen.usage)];
  if (screen.cost) parts.push(costText(screen.cost.totalUsd) + (screen.cost.partial ? "+" : ""));
  if (screen.contextTokens !== undefined) {
    parts.push(
      contextMax ? `context ${Math.round((100 * screen.contextTokens) / contextMax)} %` : `context ${countText(screen.contextTokens)}`,
    );
  }
  return parts.join(" · ");
}

/** Tokens for people: read, written, and the share that came from the cache. What is unknown is left out. */
export function usageParts(usage: Usage | undefined): readonly string[] {
  if (!usage) return [];
  const read = (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0);
  const about = usage.source === "estimated" ? "~" : "";
  return [
    ...(read > 0 ? [`${about}${countText(read)} in`] : []),
    ...(usage.output === undefined ? [] : [`${about}${countText(usage.output)} out`]),
    ...(usage.cacheRead ? [`${Math.round((100 * usage.cacheRead) / read)} % cached`] : []),
  ];
}

/** US dollars for people. */
export function costText(usd: number): string {
  return `$${usd >= 0.1 ? usd.toFixed(2) : usd.toFixed(4)}`;
}

function countText(count: number): string {
  if (count < 1_000) return `${count}`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
