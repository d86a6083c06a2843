import { type ModelRequest, type Tool, textOf } from "@loopwright/core";
import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { type ExecuteUnderTest, executeCase, ofType, readAll } from "./execute-under-test.ts";

const page = "The whole page, line by line.";

/** A tool whose output later runs need not read. */
const pageTool: Tool = {
  name: "read_page",
  description: "Reads a page.",
  parameters: { type: "object" },
  execute: () => ({ type: "complete", output: page, summary: "A page was read." }),
};

const resultsIn = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).filter(({ role }) => role === "tool_result").map(textOf);

/** What models read of earlier turns and runs. */
export const executeHistoryCases: StoreKit<ExecuteUnderTest> = [
  executeCase(
    { id: "summary", promise: "models read the output of a tool in the run of its call, its summary in later ones; people see the output" },
    { script: [{ calls: [{ name: "read_page" }] }, { text: "Read." }, { text: "As I said." }], tools: [pageTool] },
    async ({ execute, transcript, model }) => {
      const events = await readAll(execute("s1", "Read it."));
      await execute("s1", "And?").result();
      expectSame(model.requests.map(resultsIn), [[], [page], ["A page was read."]], "the results in the requests");
      const [end] = ofType(events, "tool_execution_end");
      expectSame(end?.output, [{ type: "text", text: page }], "the output that watchers see");
      const kept = (await transcript("s1")).filter(({ role }) => role === "tool_result");
      expectSame(kept.map(textOf), [page], "the transcript");
    },
  ),
];
