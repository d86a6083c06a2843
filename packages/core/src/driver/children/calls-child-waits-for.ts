import { callsBelow } from "../../loop/children/waits-of-children.ts";
import { pendingApproval, pendingCall } from "../../loop/events-of.ts";
import type { WaitingCall } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";

/** The calls that wait for a person or a client, of the session and of all below it, as the parent of the session records them. */
export function waitsOf(state: State, place: { readonly session: string; readonly agent: string }): readonly WaitingCall[] {
  const own = (state.run?.calls ?? []).flatMap((call): readonly WaitingCall[] => {
    if (call.state === "awaiting_approval") return [{ ...pendingApproval(call), ...place }];
    return call.state === "awaiting_client" ? [{ ...pendingCall(call, call.deadline), ...place }] : [];
  });
  return [...own, ...callsBelow(state).map(({ call }) => call)];
}
