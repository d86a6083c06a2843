import type { PendingApproval } from "@loopwright/core";
import type { ApprovalDecision } from "@loopwright/core/protocol";
import type { Frame } from "../markdown/frame.ts";
import { breakLines, wrapLines } from "../terminal/lines.ts";
import { neutralise, oneLine } from "../terminal/neutralise.ts";

/** Lines of arguments that are shown where a person decides. */
const argumentLinesMax = 40;

/** A call that waits for leave, as a question with everything that the tool would get. */
export function approvalLines({ toolName, args, reason }: PendingApproval, { style, width }: Frame): readonly string[] {
  const question = `Run ${oneLine(toolName, 64)}?${reason === undefined ? "" : ` ${oneLine(reason, 500)}`}`;
  const lines = neutralise(JSON.stringify(args, undefined, 2))
    .split("\n")
    .flatMap((line) => breakLines(line, width - 4));
  const left = lines.length - argumentLinesMax;
  return [
    ...wrapLines(question, width - 2).map((line, at) => style.yellow(`${at === 0 ? "? " : "  "}${line}`)),
    ...lines.slice(0, argumentLinesMax).map((line) => style.dim(`  ${line}`)),
    ...(left > 0 ? [style.yellow(`  … and ${left} more lines that are not shown`)] : []),
    style.dim("  y allows it, n denies it; a note may follow"),
  ];
}

/** What the person said: `y` or `n`, and a note behind it. `undefined`: neither. */
export function decisionOf(typed: string): Pick<ApprovalDecision, "decision" | "note"> | undefined {
  const [, word = "", rest = ""] = /^(\p{L}+)[\s,.:;!-]*([\s\S]*)$/u.exec(typed.trim()) ?? [];
  const decision = /^(y|yes|allow)$/i.test(word) ? "allow" : /^(n|no|deny)$/i.test(word) ? "deny" : undefined;
  if (decision === undefined) return undefined;
  return rest === "" ? { decision } : { decision, note: rest.slice(0, 2_000) };
}
