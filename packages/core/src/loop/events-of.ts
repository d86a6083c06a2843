import type { DurableBody } from "./event.ts";
import type { Fact, Hooked, Spending } from "./fact.ts";
import { fits, kindOf } from "./kinds/fact-kinds.ts";
import type { State } from "./state.ts";

export { pendingApproval, pendingCall } from "./kinds/message-events.ts";

/** The durable events of a fact, in order, derived from the state before it. A fact that changes nothing has none. */
export function eventsOf(before: State, fact: Fact): readonly DurableBody[] {
  if (!fits(before, fact)) return [];
  const published = kindOf(fact).publish?.(before, fact) ?? [];
  const { verdicts, expenses } = fact as Hooked & Spending;
  return verdicts || expenses ? [...ofHooks({ verdicts, expenses }), ...published] : published;
}

/** The events of changes and usage of user code, which come before the other events of the fact. */
function ofHooks({
  verdicts = [],
  expenses = [],
}: { readonly [Name in "verdicts" | "expenses"]: (Hooked & Spending)[Name] }): readonly DurableBody[] {
  return [
    ...verdicts.map((verdict): DurableBody => ({ type: "verdict", ...verdict })),
    ...expenses.map((expense): DurableBody => ({ type: "expense", ...expense })),
  ];
}
