import type { ToolResultMessage } from "../message/message.ts";
import { assertEventStream } from "./event-stream.ts";
import { clockTool, type ExecuteUnderTest, executeCase, pickTool, readAll } from "./execute-under-test.ts";
import { expectSame, expectThat } from "./kit.ts";
import type { StoreKit } from "./store-case.ts";
import { expectCode } from "./store-expectation.ts";

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
    { id: "client-waits", promise: "an execution ends where a client tool is asked for, and says which calls wait" },
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
    { id: "client-goes-on", promise: "the results go on with the run, which shows and counts only what is new" },
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
    { id: "client-error", promise: "a client tool that failed is told to the model as failed" },
    { script: [asksUser, { text: "Never mind." }], tools },
    async ({ execute, model }) => {
      await execute("s1", "choose").result();
      const { status } = await execute("s1", [{ ...answerTo("call_a", "No colours."), isError: true }]).result();
      const told = model.requests[1]?.messages.find((message) => message.role === "tool_result" && message.toolCallId === "call_a");
      expectThat(told?.role === "tool_result" && told.isError === true, "the model was told of a success");
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
];
