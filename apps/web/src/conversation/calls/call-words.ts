import type { ShownCall } from "./shown-call.ts";

/** What a state is called where nothing but words can be seen. */
export const stateWords: { readonly [State in ShownCall["state"]]: string } = {
  writing: "being written",
  pending: "about to start",
  running: "running",
  awaiting_client: "waiting for an answer",
  awaiting_approval: "waiting for approval",
  awaiting_child: "waiting for another agent",
  ok: "done",
  error: "failed",
  interrupted: "interrupted",
  denied: "denied",
  expired: "not answered in time",
  aborted: "stopped",
};

/** What a person should know of an outcome that is not a success. */
export const outcomeWords: { readonly [State in ShownCall["state"]]?: string } = {
  interrupted: "It was started, and its outcome is unknown. Check what it has done before you ask for it again.",
  denied: "It was not allowed and did not run.",
  expired: "No answer came in time.",
  aborted: "It was stopped before it was done.",
};
