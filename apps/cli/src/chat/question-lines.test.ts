import { expect, test } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { answerTo, questionLines } from "./question-lines.ts";

const frame = { width: 44, style: createStyle(false) };
const call = { toolCallId: "c", callKey: "r.1.0", toolName: "feedback_questions_tool" };

test("B104: the questions of a research are shown as questions with numbers, and take one answer", () => {
  const questions = ["Which facts of the lighthouse do you want to know?", "Which one do you mean\u001b[2J?"];
  const lines = questionLines({ ...call, args: { questions } }, frame);
  expect(lines).toEqual([
    "? 2 questions, for one answer:",
    "  1. Which facts of the lighthouse do you",
    "     want to know?",
    expect.stringMatching(/^ {2}2\. Which one do you mean.*\?$/),
  ]);
  expect(lines.join("")).not.toContain("\u001b");
  expect(answerTo({ ...call, args: { questions } }, "2")).toBe("2");
});

test("one question is shown as it is, and other arguments as JSON", () => {
  expect(questionLines({ ...call, args: { questions: ["Which year?"] } }, frame)).toEqual(["? Which year?"]);
  expect(questionLines({ ...call, toolName: "pick", args: { questions: ["Which?"], from: 2 } }, frame)[0]).toContain('pick {"questions"');
  expect(questionLines({ ...call, toolName: "pick", args: { questions: 3 } }, frame)[0]).toContain('pick {"questions":3}');
});
