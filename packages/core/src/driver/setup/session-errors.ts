import { AgentError, isAgentError } from "../../errors.ts";
import { shownId } from "../../message/shown-id.ts";
import { driverLimits } from "./driver-limits.ts";

/** For writing to a session that was closed or removed. */
export const sessionClosed = (sessionId: string): AgentError =>
  new AgentError("SESSION_CLOSED", { message: `The session \`${sessionId}\` is closed.` });

/** For writing to a child that has ended for the session above it. */
export const childEnded = (sessionId: string, above: string): AgentError =>
  new AgentError("SESSION_CLOSED", {
    message: `The session \`${sessionId}\` takes no input: it is a child that has ended, and no budget of the session \`${above}\` would count what it spends.`,
    fix: `Write to the session \`${above}\`.`,
    details: { parent: above },
  });

/** For watching or writing to a session whose log was deleted. */
export const sessionRemoved = (sessionId: string): AgentError =>
  new AgentError("SESSION_CLOSED", { message: `The session \`${sessionId}\` was removed.` });

/** For using a handle after it was disposed of, and for watching a run through it. */
export const handleLetGo = (): AgentError =>
  new AgentError("RUN_ABORTED", { message: "The session handle was disposed of.", fix: "Open the session again." });

/** The error of a log that ends before facts that were read from it. */
export const historyLost = (sessionId: string, lastSeq: number): AgentError =>
  new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${sessionId}\` has lost facts that were in it: it ends at ${lastSeq}.`,
    details: { seq: lastSeq },
  });

/** The error of a log in which a number is missing. */
export const missingFact = (sessionId: string, seq: number): AgentError =>
  new AgentError("SESSION_CORRUPT", { message: `The log of session \`${sessionId}\` has no fact ${seq}.`, details: { seq } });

/** For a log that continues with facts of a newer version. */
export const sessionTooNew = (sessionId: string, { seq, v }: { readonly seq: number; readonly v: number }): AgentError =>
  new AgentError("SESSION_TOO_NEW", {
    message: `Fact ${seq} of session \`${sessionId}\` is of a kind that this version does not know.`,
    details: { seq, version: v },
  });

/** The error of opening a session under another agent than the one it began with. */
export const otherAgent = (sessionId: string, { own, given }: { readonly own: string; readonly given: string }): AgentError =>
  new AgentError("SESSION_AGENT_MISMATCH", {
    message: `The session \`${sessionId}\` has the agent \`${shownId(own)}\`, not \`${given}\`: a session keeps the agent that it began with.`,
    fix: `Open it with the agent \`${shownId(own)}\`, or begin a new session.`,
    details: { agent: own },
  });

/** The error of opening a session with other client tools or another prompt than it began with. */
export const otherOpening = (sessionId: string, option: "tools" | "prompt"): AgentError =>
  new AgentError("SESSION_AGENT_MISMATCH", {
    message: `The session \`${sessionId}\` did not begin with ${option === "tools" ? "these" : "this"} \`${option}\`.`,
    fix: `Leave \`${option}\` out, so that what the session began with is used; or begin a new session.`,
    details: { option },
  });

/** The error of a store without space. */
export const storeFull = (): AgentError => new AgentError("STORE_FULL", { message: "The store has no space left for the session's log." });

/** For a command that was not recorded because the store did not answer. */
export const storeSilent = (): AgentError =>
  new AgentError("STORE_UNAVAILABLE", {
    message: `The store did not confirm within ${driverLimits.commandMs} ms that this was recorded.`,
    fix: "Send it again. For an input, use the same idempotency key. Nothing acknowledged is lost.",
  });

/** The error that is recorded in place of the end of a call, if the store refuses that end. */
export const closingRefused = ({ message }: AgentError): AgentError =>
  new AgentError("INTERNAL", {
    message: `The end of the call could not be recorded: ${message.slice(0, 500)}`,
    fix: "Return less, as plain JSON.",
  });

/** For an offer that lost against other appends too often in a row. */
export const storeConflict = (): AgentError =>
  new AgentError("STORE_CONFLICT", { message: `Other writers changed the session ${driverLimits.conflictsMax} times in a row.` });

/** The error as an AgentError. Any other error breaks the contract of stores, and counts as an unavailable store. */
export function storeError(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  return new AgentError("STORE_UNAVAILABLE", { message: "The store failed in an unexpected way.", cause: error });
}

/** For answering a call of a child at the child's own session. */
export const answeredAbove = (parent: string): AgentError =>
  new AgentError("CALL_UNKNOWN", {
    message: "The call belongs to a child session, and is answered at the session above it.",
    fix: `Answer it at the session at the top, which shows this call too. The session above is \`${shownId(parent)}\`.`,
    details: { parent: shownId(parent) },
  });
