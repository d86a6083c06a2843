import { type ToolResultMessage, textOf } from "@loopwright/core";
import { assertEventStream } from "../events/event-stream.ts";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { clockTool, type ExecuteUnderTest, executeCase, pickTool, readAll } from "./execute-under-test.ts";

const usage = { input: 10, output: 5 };
const asksUser = {
  text: "You choose.",
  calls: [
    { name: "pick", args: { of: "two" }, id: "call_a" },
    { name: "clock", id: "call_b" },
  ],
  usage,
};
const tools = [pickTool, clockTool];

const answerTo = (toolCallId: string, content: string): ToolResultMessage => ({ role: "tool_result", toolCallId, content });

/** Calls that the caller answers. */
export const executeClientCases: StoreKit<ExecuteUnderTest> = [
  executeCase(
    { id: "client-waits", promise: "an execution ends where a client tool is asked for, and names which calls wait" },
    { script: [asksUser], tools },
    async ({ execute }) => {
      const stream = execute("s1", "choose");
      const events = await readAll(stream);
      assertEventStream(events);
      const { status, pendingToolCalls = [] } = await stream.result();
      expectSame(status, "awaiting_tool_execution", "the status");
      const shown = pendingToolCalls.map(({ toolCallId, toolName, args }) => [toolCallId, toolName, args]);
      expectSame(shown, [["call_a", "pick", { of: "two" }]], "the pending calls");
      const last = events.at(-1);
      expectThat(last?.type === "execute_complete", `the last event is ${last?.type}`);
      expectSame(last.pendingToolCalls, pendingToolCalls, "the pending calls of execute_complete");
    },
  ),
  executeCase(
    { id: "client-goes-on", promise: "the results continue the run, which shows and counts only what is new" },
    { script: [asksUser, { text: "Red, then.", usage: { input: 40, output: 6 } }], tools },
    async ({ execute, transcript }) => {
      const { runId } = await execute("s1", "choose").result();
      const stream = execute("s1", [answerTo("call_a", "red")]);
      const events = await readAll(stream);
      assertEventStream(events);
      const result = await stream.result();
      expectSame([result.status, result.text, result.runId], ["completed", "Red, then.", runId], "the result");
      expectSame(
        result.messages.map(({ role }) => role),
        ["tool_result", "assistant"],
        "the messages",
      );
      expectSame(result.usage, { input: 40, output: 6 }, "the usage");
      const roles = (await transcript("s1")).map(({ role }) => role);
      expectSame(roles, ["user", "assistant", "tool_result", "tool_result", "assistant"], "the transcript");
    },
  ),
  executeCase(
    { id: "client-error", promise: "a client tool that failed is shown to the model as failed" },
    { script: [asksUser, { text: "Never mind." }], tools },
    async ({ execute, model }) => {
      await execute("s1", "choose").result();
      const { status } = await execute("s1", [{ ...answerTo("call_a", "No colours."), isError: true }]).result();
      const notified = model.requests[1]?.messages.find((message) => message.role === "tool_result" && message.toolCallId === "call_a");
      expectThat(notified?.role === "tool_result" && notified.isError === true, "the model was shown a success");
      expectSame(status, "completed", "the status");
    },
  ),
  executeCase(
    { id: "client-again", promise: "equal results join, different ones and those of unknown calls are refused" },
    { script: [asksUser, { text: "Red, then." }], tools },
    async ({ execute, model }) => {
      await execute("s1", "choose").result();
      await execute("s1", [answerTo("call_a", "red")]).result();
      const again = await execute("s1", [answerTo("call_a", "red")]).result();
      expectSame([again.status, again.text, model.requests.length], ["completed", "Red, then.", 2], "the second time");
      await expectCode("CALL_ANSWERED", execute("s1", [answerTo("call_a", "blue")]).result());
      await expectCode("CALL_UNKNOWN", execute("s1", [answerTo("call_z", "red")]).result());
    },
  ),
  executeCase(
    {
      id: "client-repeated",
      promise:
        "results sent again under their key are answered as before and do nothing, also where another call has the vendor's id by now",
    },
    { script: [asksUser, asksUser, { text: "Red and blue." }], tools },
    async ({ execute, transcript }) => {
      await execute("s1", "choose").result();
      const first = [answerTo("call_a", "red")];
      await execute("s1", first, { idempotencyKey: "k1" }).result();
      const again = await execute("s1", first, { idempotencyKey: "k1" }).result();
      expectSame(again.status, "awaiting_tool_execution", "the status after the second time");
      await expectCode("KEY_REUSED", execute("s1", [answerTo("call_a", "blue")], { idempotencyKey: "k1" }).result());
      const { text } = await execute("s1", [answerTo("call_a", "blue")], { idempotencyKey: "k2" }).result();
      expectSame(text, "Red and blue.", "the answer");
      const written = (await transcript("s1")).flatMap((message) =>
        message.role === "tool_result" && message.toolName === "pick" ? [textOf(message)] : [],
      );
      expectSame(written, ["red", "blue"], "the results");
    },
  ),
  executeCase(
    { id: "client-two-names", promise: "a result that names one call by its key and another by its id is refused" },
    {
      script: [
        {
          text: "Two of them.",
          calls: [
            { name: "pick", id: "call_a" },
            { name: "pick", id: "call_b" },
          ],
        },
      ],
      tools,
    },
    async ({ execute }) => {
      const { pendingToolCalls = [] } = await execute("s1", "choose").result();
      const [a, b] = pendingToolCalls;
      const result = { ...answerTo(a?.toolCallId ?? "", "red"), callKey: b?.callKey ?? "" };
      await expectCode("INPUT_INVALID", execute("s1", [result]).result());
      const { status } = await execute("s1", [{ ...result, toolCallId: b?.toolCallId ?? "" }]).result();
      expectSame(status, "awaiting_tool_execution", "the status after one of two");
    },
  ),
];
