import { AgentError } from "../../../errors.ts";
import type { Access, FactBody } from "../../../loop/fact.ts";
import type { State } from "../../../loop/state.ts";
import type { ToolResultMessage } from "../../../message/message.ts";
import type { AcceptedSubmission, ExecuteInput, SubmitOptions } from "../../../protocol/execute.ts";
import { checkExecuteInput } from "../../../protocol/input-guards.ts";
import type { Deps } from "../../setup/deps.ts";
import type { Keeper } from "../keeper.ts";
import type { SessionDriver } from "../session-driver.ts";
import { type AcceptedInput, acceptInput, newInput } from "./accept-input.ts";
import { acceptResults } from "./accept-results.ts";

export interface SubmitScene {
  readonly deps: Deps;
  readonly driver: SessionDriver;
  readonly keeper: Keeper;
  /** First fact of a new log. */
  readonly opening: FactBody;
}

/** Records an input and has it answered, here where the handle drives, whether or not anybody watches. Resolves when the log has it. */
export async function submitInput(scene: SubmitScene, input: ExecuteInput, options: SubmitOptions): Promise<AcceptedSubmission> {
  const { driver, keeper } = scene;
  checkExecuteInput(input);
  const begin = beginOf(scene, input, options);
  let accepted: AcceptedInput = { bodies: [], runId: "" };
  const bodies = (state: State): AcceptedInput["bodies"] => {
    accepted = begin(state);
    return accepted.bodies;
  };
  const facts = await driver.offer({ bodies, needsOwner: true, mayStop: options.mode === "interrupt" });
  if (scene.deps.drives) keeper.keep();
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

function beginOf({ deps, driver, opening }: SubmitScene, input: ExecuteInput, options: SubmitOptions): (state: State) => AcceptedInput {
  const own: Deps = { ...deps, access: accessOf(deps, options.access) };
  if (isResults(input)) return (state) => acceptResults(state, input, { deps: own, idempotencyKey: options.idempotencyKey });
  const fresh = newInput(input, options, own);
  return (state) => acceptInput(state, fresh, { deps: own, opening, isOwner: driver.isOwner });
}

/** Who says it: whom the session was opened for, unless another of the same scope does. @throws AgentError FORBIDDEN */
export function accessOf({ access: opener, ref, sessionId }: Deps, access: Access = opener): Access {
  if (access.scope === ref.scope) return access;
  throw new AgentError("FORBIDDEN", { message: "The access is for another scope than the session.", details: { session: sessionId } });
}

const isResults = (input: ExecuteInput): input is readonly ToolResultMessage[] => Array.isArray(input);
