import { AgentError } from "../../../errors.ts";
import type { Access, FactBody } from "../../../loop/fact.ts";
import type { State } from "../../../loop/state.ts";
import { type CheckedInput, checkInput } from "../../../protocol/checked-input.ts";
import type { AcceptedSubmission, SubmitOptions } from "../../../protocol/execute.ts";
import type { ExecuteInput } from "../../../protocol/execute-input.ts";
import { andThen, type SyncOrAsync } from "../../effects/sync-or-async.ts";
import type { Deps } from "../../setup/deps.ts";
import type { SessionDriver } from "../session-driver.ts";
import { hasAcceptHooks, runAcceptHooks } from "./accept-hook.ts";
import { type AcceptedInput, acceptInput, newInput } from "./accept-input.ts";
import { acceptResults } from "./accept-results.ts";

export interface CommandContext {
  readonly deps: Deps;
  readonly driver: SessionDriver;
  /** Drives the session without a watcher until it rests. */
  readonly driveUntilIdle: () => void;
  /** First fact of a new log. */
  readonly opening: FactBody;
}

/** Records an input and has it answered, here where the handle drives, whether or not anybody watches. Resolves when the log has it. */
export async function submitInput(
  context: CommandContext,
  input: ExecuteInput | CheckedInput,
  options: SubmitOptions,
): Promise<AcceptedSubmission> {
  const { driver, driveUntilIdle } = context;
  const ready = beginOf(context, checkInput(input), options);
  // In order with other inputs of the same moment, where no hook is asked.
  const begin = ready instanceof Promise ? await ready : ready;
  let accepted: AcceptedInput = { bodies: [], runId: "" };
  const bodies = (state: State): AcceptedInput["bodies"] => {
    accepted = begin(state);
    return accepted.bodies;
  };
  const facts = await driver.offer({ bodies, needsOwner: true, mayStop: options.mode === "interrupt" });
  if (context.deps.drives) driveUntilIdle();
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

/** What the input becomes in a state; at once where no `accept` hook is to be asked. */
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

/** The access of an input: that of the session, unless another of the same scope is given. @throws AgentError FORBIDDEN */
export function accessOf({ access: opener, ref, sessionId }: Deps, access: Access = opener): Access {
  if (access.scope === ref.scope) return access;
  throw new AgentError("FORBIDDEN", { message: "The access is for another scope than the session.", details: { session: sessionId } });
}
