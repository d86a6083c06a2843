import { AgentError } from "../../../errors.ts";
import type { Access, FactBody } from "../../../loop/fact.ts";
import type { State } from "../../../loop/state.ts";
import { type CheckedInput, checkInput } from "../../../protocol/checked-input.ts";
import type { AcceptedSubmission, SubmitOptions } from "../../../protocol/execute.ts";
import type { ExecuteInput } from "../../../protocol/execute-input.ts";
import { andThen, type SyncOrAsync } from "../../effects/sync-or-async.ts";
import type { Deps } from "../../setup/session-deps.ts";
import type { SessionDriver } from "../session-driver.ts";
import { hasAcceptHooks, runAcceptHooks } from "./accept-hook.ts";
import { type AcceptedInput, acceptInput, newInput } from "./accept-input.ts";
import { acceptResults } from "./accept-results.ts";

export interface CommandContext {
  readonly deps: Deps;
  readonly driver: SessionDriver;
  /** Drives the session until it rests, without a subscriber. */
  readonly driveUntilIdle: () => void;
  /** First fact of a new log. */
  readonly opening: FactBody;
}

/** Records an input; its run starts in this process if the handle drives, also without a subscriber. Resolves when the log has the input. */
export async function submitInput(
  context: CommandContext,
  input: ExecuteInput | CheckedInput,
  options: SubmitOptions,
): Promise<AcceptedSubmission> {
  const accepted = await recordInput(context, { input, options, needsOwner: true });
  if (context.deps.drives) context.driveUntilIdle();
  return accepted;
}

/** Records an input. `needsOwner` is false if another process is to own the run. */
export async function recordInput(
  context: CommandContext,
  {
    input,
    options,
    needsOwner,
  }: { readonly input: ExecuteInput | CheckedInput; readonly options: SubmitOptions; readonly needsOwner: boolean },
): Promise<AcceptedSubmission> {
  const { driver } = context;
  const ready = beginOf(context, checkInput(input), options);
  // Without an `accept` hook there is no await, so inputs of the same moment keep their order.
  const begin = ready instanceof Promise ? await ready : ready;
  let accepted: AcceptedInput = { bodies: [], runId: "" };
  const bodies = (state: State): AcceptedInput["bodies"] => {
    accepted = begin(state);
    return accepted.bodies;
  };
  const facts = await driver.offer({ bodies, needsOwner, mayStop: options.mode === "interrupt" });
  const { runId, known } = accepted;
  const own = facts.find(({ type }) => type === "input.accepted" || type === "client.answered");
  const inputId = own?.type === "input.accepted" ? own.inputId : known?.inputId;
  return {
    runId,
    ...(inputId === undefined ? {} : { inputId }),
    seq: Math.min(...[own?.seq ?? [], known?.seq ?? []].flat()),
    replayed: own === undefined,
  };
}

/** The facts of the input in a state; synchronous if there is no `accept` hook to call. */
export function beginOf(
  { deps, driver, opening }: Pick<CommandContext, "deps" | "driver" | "opening">,
  { value, results }: CheckedInput,
  options: SubmitOptions,
): SyncOrAsync<(state: State) => AcceptedInput> {
  const own: Deps = { ...deps, access: accessOf(deps, options.access) };
  if (results) return (state) => acceptResults(state, results, { deps: own, idempotencyKey: options.idempotencyKey });
  const given = newInput(value as Exclude<ExecuteInput, readonly unknown[]>, options, own);
  const fresh = hasAcceptHooks(own) ? runAcceptHooks(given, { deps: own, log: driver.view }) : given;
  return andThen(fresh, (taken) => (state: State) => acceptInput(state, taken, { deps: own, opening, isOwner: driver.isOwner }));
}

/** The access of an input: the given access, or else the access of the handle. @throws AgentError FORBIDDEN when it has another scope than the session */
export function accessOf({ access: opener, ref, sessionId }: Deps, access: Access = opener): Access {
  if (access.scope === ref.scope) return access;
  throw new AgentError("FORBIDDEN", { message: "The access is for another scope than the session.", details: { session: sessionId } });
}
