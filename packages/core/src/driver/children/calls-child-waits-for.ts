import { callsBelow } from "../../loop/children/waits-of-children.ts";
import { pendingApproval, pendingCall } from "../../loop/events-of.ts";
import type { WaitingCall } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";

/** Everything that the session waits for, its own calls and those below, as its parent records it. */
export function waitsOf(state: State, place: { readonly session: string; readonly agent: string }): readonly WaitingCall[] {
  const own = (state.run?.calls ?? []).flatMap((call): readonly WaitingCall[] => {
    if (call.state === "awaiting_approval") return [{ ...pendingApproval(call), ...place }];
    return call.state === "awaiting_client" ? [{ ...pendingCall(call, call.deadline), ...place }] : [];
  });
  return [...own, ...callsBelow(state).map(({ call }) => call)];
}
