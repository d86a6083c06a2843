import { AgentError } from "../../../errors.ts";
import type { FactBody, Retention, Sharing } from "../../../loop/fact.ts";
import { placeOf } from "../../../loop/input-fold.ts";
import type { State } from "../../../loop/state.ts";
import type { MessageId } from "../../../message/message.ts";
import { shownId } from "../../../message/shown-id.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import { sessionHeld } from "../../../stores/session-held.ts";
import { checkPayload } from "../../log/spill-values.ts";
import { erasableAt } from "../../ownership/due-dates.ts";
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
  { by = context.deps.access.user, runId, erases }: NonNullable<Parameters<AgentSession["abort"]>[1]>,
): Promise<boolean> {
  let isAborting = false;
  const bodies = ({ run, inputs, hold }: State): readonly FactBody[] => {
    if (erases && hold) throw sessionHeld(context.deps.sessionId, hold);
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

/** Closes the session permanently. @throws AgentError SESSION_HELD */
export async function endSession(
  context: CommandContext,
  { erase }: NonNullable<Parameters<AgentSession["end"]>[0]> = {},
): Promise<boolean> {
  const { sessionId, clock } = context.deps;
  const closed: FactBody = { type: "session.closed", ...(erase ? { erase: true } : {}) };
  let mayEnd = true;
  const bodies = (state: State): readonly FactBody[] => {
    if (erase === "always" && state.hold) throw sessionHeld(sessionId, state.hold);
    mayEnd = erase !== "expired" || (erasableAt(state) ?? Number.POSITIVE_INFINITY) <= clock.now();
    if (state.status === "closed" || !mayEnd) return [];
    return state.status === "new" ? [context.opening, closed] : [closed];
  };
  await record(context, bodies, true);
  return mayEnd;
}

/** Sets or lifts a legal hold; false if none was to be lifted. @throws AgentError INPUT_INVALID, SESSION_CLOSED */
export async function changeHold(
  context: CommandContext,
  held: boolean,
  { reason, by = context.deps.access.user }: NonNullable<Parameters<AgentSession["hold"]>[0]> = {},
): Promise<boolean> {
  if (reason !== undefined && (typeof reason !== "string" || reason.length > holdReasonMax))
    throw new AgentError("INPUT_INVALID", { message: `The reason of a hold is text of at most ${holdReasonMax} characters.` });
  let isChanged = false;
  const body: FactBody = { type: "hold.changed", held, ...(reason === undefined ? {} : { reason }), by };
  await recordOpen(context, ({ status, hold }) => {
    isChanged = held ? hold === undefined || hold.reason !== reason : hold !== undefined;
    if (!isChanged) return [];
    return status === "new" ? [context.opening, body] : [body];
  });
  return isChanged;
}

const holdReasonMax = 1_000;
/** A second, and a hundred years. */
const [keepMinMs, keepMaxMs] = [1_000, 100 * 366 * 86_400_000];

function checkRetention({ keepMs }: Retention): void {
  if (keepMs === undefined || (Number.isSafeInteger(keepMs) && keepMs >= keepMinMs && keepMs <= keepMaxMs)) return;
  throw new AgentError("INPUT_INVALID", {
    message: `\`retention.keepMs\` is a whole number of milliseconds from ${keepMinMs} to ${keepMaxMs}.`,
    fix: "Leave `keepMs` out to keep the session for ever.",
    details: { field: "retention.keepMs" },
  });
}

function checkForgotten(callKeys: unknown): void {
  if (Array.isArray(callKeys) && callKeys.length <= forgottenMax && callKeys.every((callKey) => typeof callKey === "string")) return;
  throw new AgentError("INPUT_INVALID", {
    message: `\`forget\` is no list of at most ${forgottenMax} keys of calls.`,
    fix: "Take `callKey` from `remembered` of the session.",
  });
}

const forgottenMax = 100;

const noMessage = (id: MessageId | null): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `There is no message \`${shownId(String(id))}\`.`,
    fix: "Take an id from `session.messageIds`.",
  });

const sharedUsersMax = 200;
const sharingRoles: ReadonlySet<unknown> = new Set(["viewer", "member", "owner"]);

function checkSharing({ scope, users = {} }: Sharing): void {
  const shared = Object.entries(users);
  const isFit = shared.every(([user, role]) => user !== "" && user.length <= 200 && sharingRoles.has(role));
  if ((scope === undefined || scope === "viewer" || scope === "member") && isFit && shared.length <= sharedUsersMax) return;
  throw new AgentError("INPUT_INVALID", {
    message: `\`sharing\` has \`viewer\` or \`member\` for \`scope\`, and one of \`viewer\`, \`member\` and \`owner\` for each of at most ${sharedUsersMax} \`users\`.`,
    details: { field: "sharing" },
  });
}

function changedBy({ title, metadata, retention, forget, sharing }: Parameters<AgentSession["change"]>[0]): FactBody {
  if (metadata) checkPayload(metadata, "The metadata");
  if (retention) checkRetention(retention);
  if (forget) checkForgotten(forget);
  if (sharing) checkSharing(sharing);
  const kept = retention && { retention: retention.keepMs === undefined ? {} : { keepMs: retention.keepMs } };
  return {
    type: "session.changed",
    ...(title === undefined ? {} : { title }),
    ...(metadata ? { metadata } : {}),
    ...kept,
    ...(forget ? { forget } : {}),
    ...(sharing ? { sharing } : {}),
  };
}
