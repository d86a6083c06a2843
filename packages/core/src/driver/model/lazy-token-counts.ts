import type { State } from "../../loop/state.ts";
import type { MessageSizes } from "../../ports/context-engine.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { TokenCounts } from "../../prompt/token-counts.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { reportThrown } from "../setup/user-code-errors.ts";
import type { PreparedModel } from "./prepare-model-call.ts";

/** The token counts of a session; their code is loaded by its first model call. */
export interface LoadedCounts {
  /** The sizes for the model of this call. Waits until the new parts of the request are counted. */
  sizesOf(prepared: PreparedModel, state: State): Promise<MessageSizes>;
}

/** `undefined` if there is no token counter. */
export function loadedCounts(deps: Deps, builder: RequestBuilder): LoadedCounts | undefined {
  const { tokenCounter } = deps;
  if (!tokenCounter) return undefined;
  let counts: TokenCounts | undefined;
  return {
    async sizesOf({ request, messages, added }, state) {
      const { TokenCounts } = await import("../../prompt/token-counts.ts");
      const report = (error: unknown): void => reportThrown(deps, "The token counter failed.", error);
      counts ??= new TokenCounts(tokenCounter, { clock: deps.clock, waitMs: driverLimits.counterMs, report });
      const joining = [...added.examples, ...(state.run?.steered ?? []).flatMap(({ message }) => message ?? [])];
      return counts.counted(request.model, { ...request, messages: messages ?? builder.historyAt(state).messages, joining });
    },
  };
}
