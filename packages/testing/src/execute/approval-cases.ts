import { type ExecuteResult, type GateVerdict, type Hooks, type JsonObject, type Tool, textOf } from "@loopwright/core";
import { assertEventStream } from "../events/event-stream.ts";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { type ExecuteScene, type ExecuteUnderTest, executeCase, ofType, readAll, type SceneOptions } from "./execute-under-test.ts";

const call = { name: "remove", args: { path: "old.txt" }, id: "call_a" };
const removes = { text: "Tidying up.", calls: [call] };

/** A scene whose tool needs approval, and the arguments of its runs. */
function careful(
  more: Partial<Extract<GateVerdict, { action: "ask" }>> = {},
): Pick<SceneOptions, "tools" | "hooks"> & { readonly ran: JsonObject[] } {
  const ran: JsonObject[] = [];
  const remove: Tool = {
    name: "remove",
    description: "Removes a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute(args) {
      ran.push(args as JsonObject);
      return "removed";
    },
  };
  const asks: Hooks = { name: "gate", gate: () => ({ action: "ask", reason: "It is gone for good.", ...more }) };
  return { tools: [remove], hooks: [asks], ran };
}

/** The key of the one call that waits. */
function keyOf({ status, pendingApprovals = [] }: ExecuteResult): string {
  expectSame([status, pendingApprovals.length], ["awaiting_tool_execution", 1], "the status and the pending approvals");
  return pendingApprovals[0]?.callKey ?? "";
}

/** The model's answer once the run is over: another input waits for that. */
async function words({ execute, transcript }: ExecuteScene): Promise<readonly string[]> {
  await execute("s1", "and then?").result();
  return (await transcript("s1")).flatMap((message) => (message.role === "assistant" ? [textOf(message)] : []));
}

function approvalCase(
  about: { readonly id: string; readonly promise: string },
  script: SceneOptions["script"],
  check: (scene: ExecuteScene, ran: readonly JsonObject[]) => Promise<void>,
): StoreKit<ExecuteUnderTest>[number] {
  const { id, promise } = about;
  return {
    id,
    promise,
    async run(make) {
      const { ran, ...scene } = careful();
      await executeCase(about, { script, ...scene }, (opened) => check(opened, ran)).run(make);
    },
  };
}

const begin = ({ execute }: ExecuteScene): ReturnType<ExecuteScene["execute"]> => execute("s1", "tidy up");

/** Cases about calls that a person must allow. */
export const executeApprovalCases: StoreKit<ExecuteUnderTest> = [
  approvalCase(
    { id: "approval-waits", promise: "an execution ends where a person is to decide, and names on which calls" },
    [removes],
    async (scene, ran) => {
      const stream = begin(scene);
      const events = await readAll(stream);
      assertEventStream(events);
      const { status, pendingApprovals = [] } = await stream.result();
      const shown = pendingApprovals.map(({ toolCallId, toolName, args, reason }) => [toolCallId, toolName, args, reason]);
      expectSame([status, shown], ["awaiting_tool_execution", [["call_a", "remove", call.args, "It is gone for good."]]], "what waits");
      expectThat(/^[0-9a-f]{64}$/.test(pendingApprovals[0]?.argsDigest ?? ""), "the digest is no SHA-256");
      const last = events.at(-1);
      expectThat(last?.type === "execute_complete", `the last event is ${last?.type}`);
      expectSame(last.pendingApprovals, pendingApprovals, "the pending approvals of execute_complete");
      const asked = ofType(events, "approval_requested").map(({ callKey }) => callKey);
      expectSame(asked, [pendingApprovals[0]?.callKey], "the calls that are listed");
      expectSame(ofType(events, "tool_execution_start").length + ran.length, 0, "the starts of the tool");
    },
  ),
  approvalCase(
    { id: "approval-allows", promise: "an allowed call runs once, with the arguments of the decision, and the run continues" },
    [removes, { text: "It is gone." }, { text: "All done." }],
    async (scene, ran) => {
      const callKey = keyOf(await begin(scene).result());
      await scene.decide("s1", callKey, { decision: "allow", args: { path: "older.txt" } });
      expectSame(
        [await words(scene), ran],
        [["Tidying up.", "It is gone.", "All done."], [{ path: "older.txt" }]],
        "the words and what ran",
      );
    },
  ),
  approvalCase(
    { id: "approval-denies", promise: "a denied call never runs, and the model reads the note" },
    [removes, { text: "Then not." }, { text: "All done." }],
    async (scene, ran) => {
      const callKey = keyOf(await begin(scene).result());
      await scene.decide("s1", callKey, { decision: "deny", note: "Keep it." });
      expectSame([await words(scene), ran], [["Tidying up.", "Then not.", "All done."], []], "the words and what ran");
      expectThat(JSON.stringify(scene.model.requests[1]?.messages).includes("Keep it."), "the model was not given the reason");
    },
  ),
  approvalCase(
    { id: "approval-again", promise: "an equal decision is replayed, another one is refused with the first" },
    [removes, { text: "It is gone." }, { text: "All done." }],
    async (scene, ran) => {
      const callKey = keyOf(await begin(scene).result());
      const first = await scene.decide("s1", callKey, { decision: "allow", idempotencyKey: "d" });
      expectSame(await words(scene), ["Tidying up.", "It is gone.", "All done."], "the words");
      const again = await scene.decide("s1", callKey, { decision: "allow", idempotencyKey: "d" });
      expectSame([first.replayed, again.replayed, again.seq], [false, true, first.seq], "the answers to the same decision");
      const refused = scene.decide("s1", callKey, { decision: "deny" });
      await expectCode("APPROVAL_DECIDED", refused);
      const details = await refused.catch((error: { readonly details?: JsonObject }) => error.details);
      expectSame((details as JsonObject)["decision"], "allow", "the first decision");
      expectSame(ran.length, 1, "the runs of the tool");
    },
  ),
  approvalCase(
    { id: "approval-refused", promise: "a decision on an unknown call, on other arguments or with such as do not fit is refused" },
    [removes, { text: "Then not." }],
    async (scene, ran) => {
      const waiting = await begin(scene).result();
      const { pendingApprovals = [] } = waiting;
      const callKey = keyOf(waiting);
      await expectCode("CALL_UNKNOWN", scene.decide("s1", "nobody.1.0", { decision: "allow" }));
      await expectCode("APPROVAL_MISMATCH", scene.decide("s1", callKey, { decision: "allow", argsDigest: "0".repeat(64) }));
      await expectCode("INPUT_INVALID", scene.decide("s1", callKey, { decision: "allow", args: { path: 7 } }));
      expectSame(ran.length, 0, "the runs of the tool");
      const argsDigest = pendingApprovals[0]?.argsDigest ?? "";
      expectSame((await scene.decide("s1", callKey, { decision: "deny", argsDigest })).replayed, false, "whether it was decided before");
    },
  ),
];
