import type { PendingApproval, PendingToolCall } from "@loopwright/core";
import { askUserName, questionOf } from "../compose/ask-user-tool.ts";
import type { Frame } from "../markdown/frame.ts";
import { wrapLines } from "../terminal/lines.ts";
import { neutralise, oneLine } from "../terminal/neutralise.ts";
import { approvalLines } from "./approval-lines.ts";

/** A call that waits for the person: for an answer, or for approval. */
export type Question = PendingToolCall | PendingApproval;

/** True for one that waits for approval. */
export const isApproval = (question: Question): question is PendingApproval => "argsDigest" in question;

/** What waits for the person, as a question; of arguments that fill several pages this one, from 0, or all. */
export function questionLines(call: Question, frame: Frame, page: number | "all" = "all"): readonly string[] {
  if (isApproval(call)) return approvalLines(call, frame, page);
  const { style, width } = frame;
  const { question, choices } = questionOf(call.args);
  const questions = questionsIn(call);
  if (questions.length > 1) return severalQuestions(questions, frame);
  const what =
    call.toolName === askUserName
      ? neutralise(question)
      : (questions[0] ?? `${oneLine(call.toolName, 64)} ${oneLine(JSON.stringify(call.args), 200)}`);
  const lines = what.split("\n").flatMap((line) => wrapLines(line, width - 2));
  return [
    ...lines.map((line, at) => style.yellow(`${at === 0 ? "? " : "  "}${line}`)),
    ...choices.slice(0, 9).map((choice, at) => style.dim(`  ${at + 1}. ${oneLine(choice, width - 6)}`)),
  ];
}

/** The questions of a tool that asks several at once: its argument is a list of texts. */
function questionsIn({ args }: PendingToolCall): readonly string[] {
  const { questions, ...others } = args;
  const isList = Array.isArray(questions) && Object.keys(others).length === 0;
  return isList ? questions.filter((one) => typeof one === "string").map(neutralise) : [];
}

function severalQuestions(questions: readonly string[], { style, width }: Frame): readonly string[] {
  const head = style.yellow(`? ${questions.length} questions, for one answer:`);
  const lines = questions.flatMap((question, at) =>
    wrapLines(question, width - 7).map((line, row) => style.yellow(row === 0 ? `  ${at + 1}. ${line}` : `     ${line}`)),
  );
  return [head, ...lines];
}

/** The answer as the tool's result: a number stands for the choice. */
export function answerTo(call: PendingToolCall, typed: string): string {
  const { choices } = questionOf(call.args);
  const place = Number(typed.trim());
  return (Number.isInteger(place) && place > 0 ? choices[place - 1] : undefined) ?? typed;
}
