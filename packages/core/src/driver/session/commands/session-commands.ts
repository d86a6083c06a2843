import { AgentError } from "../../../errors.ts";
import type { FactBody } from "../../../loop/fact.ts";
import { placeOf } from "../../../loop/inputs.ts";
import type { State } from "../../../loop/state.ts";
import type { MessageId } from "../../../message/message.ts";
import { shownId } from "../../../message/shown-id.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import { checkPayload } from "../../log/spill-values.ts";
import { sessionClosed } from "../../setup/session-errors.ts";
import type { CommandContext } from "./submit.ts";

/** Commands that any handle may record, also one that does not own the session. */
const record = ({ driver }: CommandContext, bodies: (state: State) => readonly FactBody[], mayStop = false): Promise<unknown> =>
  driver.offer({ bodies, needsOwner: false, mayStop });

const recordOpen = (context: CommandContext, bodies: (state: State) => readonly FactBody[]): Promise<unknown> =>
  record(context, (state) => {
    if (state.status === "closed") throw sessionClosed(context.deps.sessionId);
    return bodies(state);
  });

/** Records the opening; false if the log has one. */
export async function openSession(context: CommandContext): Promise<boolean> {
  let isNew = false;
  await record(context, ({ status }) => {
    isNew = status === "new";
    return isNew ? [context.opening] : [];
  });
  return isNew;
}

/** Records the abort of a run; false if there is no run to abort. */
export async function abortRun(
  context: CommandContext,
  reason: string,
  { by = context.deps.access.user, runId }: { readonly by?: string; readonly runId?: string },
): Promise<boolean> {
  let isAborting = false;
  const bodies = ({ run, inputs }: State): readonly FactBody[] => {
    const runs = run ? [run, ...inputs] : inputs;
    const target = runId === undefined ? runs[0] : runs.find((one) => one.runId === runId);
    isAborting = target !== undefined && !target.abort;
    return target && isAborting ? [{ type: "abort.requested", runId: target.runId, reason, by }] : [];
  };
  await record(context, bodies, true);
  if (isAborting && context.deps.drives) context.driveUntilIdle();
  return isAborting;
}

/** @throws AgentError INPUT_INVALID, SESSION_CLOSED */
export async function changeSession(context: CommandContext, changes: Parameters<AgentSession["change"]>[0]): Promise<void> {
  const body = changedBy(changes);
  await recordOpen(context, (state) => (state.status === "new" ? [context.opening, body] : [body]));
}

/** @throws AgentError INPUT_INVALID, SESSION_CLOSED */
export async function moveHead(context: CommandContext, to: MessageId | null): Promise<void> {
  await recordOpen(context, (state) => {
    if (placeOf(state, to) !== undefined) return [{ type: "head.moved", to }];
    throw noMessage(to);
  });
}

/** Closes the session permanently. */
export async function endSession(context: CommandContext): Promise<void> {
  const closed: FactBody = { type: "session.closed" };
  const bodies = ({ status }: State): readonly FactBody[] =>
    status === "closed" ? [] : status === "new" ? [context.opening, closed] : [closed];
  await record(context, bodies, true);
}

const noMessage = (id: MessageId | null): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `There is no message \`${shownId(String(id))}\`.`,
    fix: "Take an id from `session.messageIds`.",
  });

function changedBy({ title, metadata }: Parameters<AgentSession["change"]>[0]): FactBody {
  if (metadata) checkPayload(metadata, "The metadata");
  return { type: "session.changed", ...(title === undefined ? {} : { title }), ...(metadata ? { metadata } : {}) };
}
