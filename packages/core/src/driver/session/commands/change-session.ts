import { AgentError } from "../../../errors.ts";
import type { FactBody, Retention, Sharing } from "../../../loop/fact.ts";
import { present } from "../../../message/drop-undefined.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import { checkPayload } from "../../log/spill-large-values.ts";
import { recordOpenCommand } from "./record-command.ts";
import type { CommandContext } from "./submit-input.ts";

/** @throws AgentError INPUT_INVALID, SESSION_CLOSED */
export async function changeSession(context: CommandContext, changes: Parameters<AgentSession["change"]>[0]): Promise<void> {
  const body = changedBy(changes);
  await recordOpenCommand(context, (state) => (state.status === "new" ? [context.opening, body] : [body]));
}

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
    ...present({ title, metadata, forget, sharing }),
    ...kept,
  };
}
