import type { RememberedDecision } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import type { Deps } from "./session-deps.ts";

/** Decisions that hold for later calls of the session: those of the sessions above it first, then its own. */
export const rememberedIn = (
  { rememberedAbove }: Pick<Deps, "rememberedAbove">,
  { remembered = [] }: State,
): readonly RememberedDecision[] => (rememberedAbove ? [...rememberedAbove(), ...remembered] : remembered);
