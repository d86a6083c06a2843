import { AgentError, type ErrorCode, errorTable } from "@loopwright/core";
import { expect, test } from "vitest";
import { complaintOf } from "./complaint.ts";
import { exitCodeOf, exitCodeOfRun } from "./exit-code.ts";

test("an error shows what happened, why, and what to try, with its code", () => {
  expect(complaintOf(new AgentError("MODEL_AUTH", { message: "OpenAI answered 401: bad key." }))).toEqual([
    "OpenAI answered 401: bad key. (MODEL_AUTH)",
    "why: The vendor refused the key.",
    "try: Check the API key and that it may use this model.",
  ]);
});

test("a vendor's sentence about its refusal is shown to the user of the program, on one line", () => {
  const error = new AgentError("MODEL_AUTH", { message: "OpenAI answered 401.", vendorMessage: "No such\nkey." });
  expect(complaintOf(error)[1]).toBe("why: The vendor refused the key. Its message: No such key.");
  expect(complaintOf(new AgentError("MODEL_AUTH", { message: "OpenAI answered 401." }), "Not paid.")[1]).toBe(
    "why: The vendor refused the key. Its message: Not paid.",
  );
});

test("the text of an unknown error is not shown: it may hold anything", () => {
  const notified = complaintOf(new TypeError("key sk-secret in https://user:secret@host")).join("\n");
  expect(notified).toContain("Unexpected TypeError. (INTERNAL)");
  expect(notified).not.toContain("secret");
});

test("the system's own errors about files are shown by their meaning", () => {
  expect(complaintOf(Object.assign(new Error("x"), { code: "EACCES" }))[0]).toContain("STORE_READ_ONLY");
  expect(complaintOf(Object.assign(new Error("x"), { code: "ENOSPC" }))[0]).toContain("STORE_FULL");
});

test("a code that only a newer server knows is shown as it is", () => {
  const error = Object.assign(new AgentError("INTERNAL", { message: "Too early.", fix: "Wait." }), { code: "TOO_EARLY" });
  expect(complaintOf(error)).toEqual(["Too early. (TOO_EARLY)", "why: The server reported it.", "try: Wait."]);
  expect(exitCodeOf("TOO_EARLY" as ErrorCode)).toBe(1);
});

test("every line is one line and harmless, whatever the other side wrote", () => {
  const lines = complaintOf(new AgentError("MODEL_PROTOCOL", { message: "a\r\nevent: evil\u001b[2J", fix: "b\u0007\nc" }));
  expect(lines[0]).toBe("a event: evil␛[2J (MODEL_PROTOCOL)");
  expect(lines[2]).toBe("try: b␇ c");
});

test.each<[ErrorCode, number]>([
  ["MODEL_KEY_MISSING", 3],
  ["MODEL_AUTH", 3],
  ["CONFIG_INVALID", 3],
  ["MODEL_OVERLOADED", 4],
  ["MODEL_NOT_FOUND", 4],
  ["CONTEXT_OVERFLOW", 4],
  ["LIMIT_REACHED", 5],
  ["RUN_ABORTED", 130],
  ["SESSION_NOT_FOUND", 1],
  ["STORE_CORRUPT", 1],
  ["INTERNAL", 1],
])("%s ends with %i", (code, exitCode) => {
  expect(exitCodeOf(code)).toBe(exitCode);
});

test("every code of the table has an exit code, and none of them is 0", () => {
  for (const code of Object.keys(errorTable) as ErrorCode[]) expect([1, 2, 3, 4, 5, 130]).toContain(exitCodeOf(code));
});

test("the end of a run shows its status and a reached limit", () => {
  expect(exitCodeOfRun({ status: "completed" })).toBe(0);
  expect(exitCodeOfRun({ status: "completed", limit: { which: "turns", value: 10 } })).toBe(5);
  expect(exitCodeOfRun({ status: "awaiting_tool_execution" })).toBe(0);
  expect(exitCodeOfRun({ status: "aborted" })).toBe(130);
  expect(exitCodeOfRun({ status: "error", error: new AgentError("MODEL_AUTH", { message: "x" }) })).toBe(3);
});
