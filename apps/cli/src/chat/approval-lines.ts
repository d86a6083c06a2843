import { type DoubtfulHost, doubtfulHosts } from "@loopwright/client";
import type { PendingApproval } from "@loopwright/core";
import type { ApprovalDecision } from "@loopwright/core/protocol";
import type { Frame } from "../markdown/frame.ts";
import { breakLines, wrapLines } from "../terminal/lines.ts";
import { neutralise, oneLine } from "../terminal/neutralise.ts";
import { approvalPages } from "./approval-pages.ts";

/** A call that waits for approval, as a terminal shows it. */
export interface ApprovalText {
  readonly question: readonly string[];
  /** One page of the tool's arguments; the last one also lists doubtful hosts in them. */
  readonly page: readonly string[];
  /** The keys that the user may press. */
  readonly keys: readonly string[];
}

/** The call with this page of its arguments, from 0, or with all of them. */
export function approvalText({ toolName, args, reason }: PendingApproval, { style, width }: Frame, at: number | "all"): ApprovalText {
  const question = `Run ${oneLine(toolName, 64)}?${reason === undefined ? "" : ` ${oneLine(reason, 500)}`}`;
  const pages = approvalPages(args);
  const place = at === "all" ? pages.length - 1 : Math.min(at, pages.length - 1);
  const isLast = place === pages.length - 1;
  const lines = (at === "all" ? pages : pages.slice(place, place + 1))
    .join("\n")
    .split("\n")
    .flatMap((line) => breakLines(neutralise(line), width - 4));
  const keys = isLast
    ? "y allows it, n denies it; a note may follow"
    : `page ${place + 1} of ${pages.length}: m shows more, n denies it; y counts after the last page`;
  return {
    question: wrapLines(question, width - 2).map((line, row) => style.yellow(`${row === 0 ? "? " : "  "}${line}`)),
    page: [
      ...lines.map((line) => style.dim(`  ${line}`)),
      ...(isLast
        ? doubtfulHosts(args)
            .flatMap((host) => hostLines(host, width))
            .map(style.yellow)
        : []),
    ],
    keys: wrapLines(keys, width - 2).map((line) => style.dim(`  ${line}`)),
  };
}

/** The same as one list of lines. */
export function approvalLines(call: PendingApproval, frame: Frame, at: number | "all"): readonly string[] {
  const { question, page, keys } = approvalText(call, frame, at);
  return [...question, ...page, ...keys];
}

const doubts: { readonly [Why in DoubtfulHost["why"]]: string } = {
  scripts: "mixes letters of several alphabets",
  letters: "has other letters than a to z",
  encoded: "is shown as other letters elsewhere",
  name: "only begins like a host",
};

function hostLines({ written, real, why }: DoubtfulHost, width: number): readonly string[] {
  const asks = real === undefined ? "it is no host" : `the host is ${oneLine(real, 120)}`;
  return wrapLines(`! ${oneLine(written, 120)} ${doubts[why]}: ${asks}`, width - 4).map((line) => `  ${line}`);
}

/** The person's reply: `y` or `n`, and a note behind it. `undefined`: neither. */
export function decisionOf(typed: string): Pick<ApprovalDecision, "decision" | "note"> | undefined {
  const [, word = "", rest = ""] = /^(\p{L}+)[\s,.:;!-]*([\s\S]*)$/u.exec(typed.trim()) ?? [];
  const decision = /^(y|yes|allow)$/i.test(word) ? "allow" : /^(n|no|deny)$/i.test(word) ? "deny" : undefined;
  if (decision === undefined) return undefined;
  return rest === "" ? { decision } : { decision, note: rest.slice(0, 2_000) };
}

/** True where the person asks for the next page. */
export const asksForMore = (typed: string): boolean => /^(m|more)$/i.test(typed.trim());
