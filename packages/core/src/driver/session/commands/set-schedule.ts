/*
 * Owns: the facts that set and clear a schedule of a session. A handle may record them without owning the session.
 * Does not own: when a schedule fires (due-dates, the loop), its first date (first-due-date).
 */

import { AgentError } from "../../../errors.ts";
import { lastWithKey } from "../../../loop/append-list.ts";
import { isEndedChild } from "../../../loop/children/background-children.ts";
import { firingKey, hasSchedule } from "../../../loop/due-schedules.ts";
import type { BodyOf, FactBody } from "../../../loop/fact.ts";
import { keyOfInput } from "../../../loop/fold-inputs.ts";
import type { Schedule, State } from "../../../loop/state.ts";
import { canonicalJson } from "../../../message/canonical-json.ts";
import { present } from "../../../message/drop-undefined.ts";
import type { Json } from "../../../message/json.ts";
import { jsonBytes } from "../../../message/json-bytes.ts";
import { isId } from "../../../message/session-ref.ts";
import { shownId } from "../../../message/shown-id.ts";
import { checkInput } from "../../../protocol/checked-input.ts";
import { type ScheduleFiring, type ScheduleRequest, type SessionSchedule, scheduleLimits } from "../../../protocol/schedule.ts";
import { checkPayload } from "../../log/spill-large-values.ts";
import type { Deps } from "../../setup/session-deps.ts";
import { childEnded, sessionClosed } from "../../setup/session-errors.ts";
import { hasAcceptHooks, runAcceptHooks } from "./accept-hook.ts";
import { newInput, runOptions } from "./accept-input.ts";
import { checkAhead, firedBefore, requestedDue, withInterval } from "./first-due-date.ts";
import { accessOf, type CommandContext } from "./submit-input.ts";

/** A repeated request changes nothing while its schedule stands. @throws AgentError INPUT_INVALID, INPUT_REFUSED, HOOK_FAILED, FORBIDDEN, SESSION_CLOSED */
export async function setSchedule(context: CommandContext, name: string, asked: ScheduleRequest): Promise<SessionSchedule> {
  const { deps, driver, opening } = context;
  checkName(name);
  const request = withInterval(asked);
  const due = requestedDue(request, deps.clock.now(), deps.scheduleRules);
  const input = await scheduledInput(context, request);
  const result: { set?: Schedule } = {};
  const bodies = (state: State): readonly FactBody[] => {
    if (state.status === "closed") throw sessionClosed(deps.sessionId);
    if (isEndedChild(state)) throw childEnded(deps.sessionId, state.parent?.session ?? "");
    const standing = state.schedules?.find(({ id }) => id === name);
    if (standing && isSame(standing, { request, input, due })) {
      result.set = standing;
      return [];
    }
    checkAhead(due, deps.clock.now());
    // A node whose clock was ahead may have fired this date early: each date fires once.
    if (lastWithKey(state.known, firingKey({ id: name, due }), keyOfInput) !== undefined) throw firedBefore(due);
    if (!standing) checkRoom(state, deps);
    const dates = { due, ...repetitionOf(request) };
    result.set = { id: name, input, ...dates };
    const body: FactBody = { type: "schedule.set", schedule: name, input, ...dates, by: accessOf(deps, request.access).user };
    return state.status === "new" ? [opening, body] : [body];
  };
  await driver.offer({ bodies, needsOwner: false });
  return shown(result.set as Schedule);
}

/** Clears a schedule; false if the session has no such schedule. @throws AgentError SESSION_CLOSED */
export async function clearSchedule({ deps, driver }: CommandContext, name: string, by: string = deps.access.user): Promise<boolean> {
  let isCleared = false;
  const bodies = (state: State): readonly FactBody[] => {
    if (state.status === "closed") throw sessionClosed(deps.sessionId);
    isCleared = hasSchedule(state, name);
    return isCleared ? [{ type: "schedule.cleared", schedule: name, by }] : [];
  };
  await driver.offer({ bodies, needsOwner: false });
  return isCleared;
}

/** The schedules that will fire, the next one first. */
export const schedulesOf = ({ schedules = [] }: Pick<State, "schedules">): readonly SessionSchedule[] =>
  schedules.map(shown).sort((a, b) => a.due - b.due || (a.name < b.name ? -1 : 1));

/** The due times that have passed, the newest first, as far back as the session keeps them. */
export const firingsOf = ({ firings = [], ended, run, inputs }: State): readonly ScheduleFiring[] =>
  firings.toReversed().map(({ schedule: name, runId, ...when }): ScheduleFiring => {
    if (runId === undefined) return { name, ...when, status: "skipped" };
    if (run?.runId === runId) return { name, ...when, runId, status: "running" };
    if (inputs.some((input) => input.runId === runId)) return { name, ...when, runId, status: "waiting" };
    return { name, ...when, runId, status: lastWithKey(ended, runId, idOfRun)?.status ?? "waiting" };
  });

/** A constant, because indices are cached per function. */
const idOfRun = ({ runId }: { readonly runId: string }): string => runId;

/** How a schedule repeats, as its fact has it. */
const repetitionOf = ({ everyMs, cron: rule, timeZone, missed = "once" }: ScheduleRequest): Repetition =>
  present({ everyMs, rule, timeZone: rule === undefined ? undefined : timeZone, missed });

type Repetition = Pick<Schedule, "everyMs" | "rule" | "timeZone" | "missed">;

function shown({ id, due, everyMs, rule: cron, timeZone, missed, input }: Schedule): SessionSchedule {
  const { message, mode = "enqueue", access, options, labels } = input;
  return {
    name: id,
    due,
    ...{ message, mode, ...options },
    ...present({ everyMs, cron, timeZone, missed: missed === "skip" ? missed : undefined, labels, user: access?.user }),
  };
}

/** The input of every firing. The `accept` hooks are called for it now, and not when the schedule fires. */
async function scheduledInput({ deps, driver }: CommandContext, request: ScheduleRequest): Promise<BodyOf<"schedule.set">["input"]> {
  const { input, mode = "enqueue", labels } = request;
  const checked = checkInput(input).value;
  if (typeof checked === "object" && !("role" in checked)) throw invalid("A schedule sends text or a user message.", "input");
  if (mode !== "enqueue" && mode !== "interrupt") throw invalid("The mode of a schedule is enqueue or interrupt.", "mode");
  checkPayload(checked, "The message");
  if (jsonBytes(checked) > scheduleLimits.messageBytes)
    throw invalid(`The message of a schedule has at most ${scheduleLimits.messageBytes} bytes.`, "input");
  const own: Deps = { ...deps, access: accessOf(deps, request.access) };
  const given = newInput(checked, { ...request, mode }, own);
  const { message, answer, verdicts } = hasAcceptHooks(own) ? await runAcceptHooks(given, { deps: own, log: driver.view }) : given;
  if (!message) throw invalid("A schedule sends text or a user message.", "input");
  return {
    message,
    ...(mode === "interrupt" ? { mode } : {}),
    access: own.access,
    ...runOptions(request),
    ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
    ...present({ answer, verdicts }),
  };
}

interface Wanted {
  readonly request: ScheduleRequest;
  readonly input: Schedule["input"];
  readonly due: number;
}

/** True if the schedule stands as requested. Without `at` its next date is not compared, because a repeated request has another date. */
function isSame(standing: Schedule, { request, input, due }: Wanted): boolean {
  const text = (value: object): string => canonicalJson(JSON.parse(JSON.stringify(value)) as Json);
  const { everyMs, rule, timeZone, missed = "once" } = standing;
  const repeats = text(present({ everyMs, rule, timeZone, missed })) === text(repetitionOf(request));
  return repeats && (request.at === undefined || standing.due === due) && text(standing.input) === text(input);
}

function checkRoom({ schedules = [] }: State, { sessionId }: Deps): void {
  if (schedules.length < scheduleLimits.perSession) return;
  throw new AgentError("INPUT_INVALID", {
    message: `The session \`${sessionId}\` already has ${scheduleLimits.perSession} schedules.`,
    fix: "Remove a schedule, or use another session.",
  });
}

function checkName(name: string): void {
  if (isId(name)) return;
  throw invalid(
    `A schedule cannot be named \`${shownId(String(name))}\`.`,
    "name",
    "Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit.",
  );
}

const invalid = (message: string, field: string, fix = "Change the schedule and send it again."): AgentError =>
  new AgentError("INPUT_INVALID", { message, fix, details: { field } });
