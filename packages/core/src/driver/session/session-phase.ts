/*
 * Owns: the phases of one session in this process, and the phase that follows each signal.
 * Does not own: when a signal is sent, and how an action is performed (the driver).
 *
 *             loaded                claimed
 *   loading ---------> following ------------> owning
 *      ^                ^    ^  <------------    |
 *      | log-lost       |    |  lease-released,  | hand-over
 *      | (from all)     |    |  -lost, -given-up |
 *      |                |    +--- idle --- leaving          disposed: from all, by `dispose`; final
 */

/**
 * `loading`: the log has not been read, or was lost. `following`: another handle may own the session. `owning`: the lease is held here, so effects
 * are launched. `leaving`: the session is being handed over; the lease is kept until the running effects have ended. `disposed`: final.
 */
export type PhaseName = "loading" | "following" | "owning" | "leaving" | "disposed";

export interface SessionPhase {
  readonly name: PhaseName;
  /** True if the lease may be claimed. False for good after a hand-over. */
  readonly mayOwn: boolean;
}

/**
 * `lease-released`: this handle gave the lease back in order. `lease-lost`: another process may hold it. `lease-given-up`: this process cannot work on the
 * session, another one may. `idle`: a round of the command loop has ended without a lease. `log-lost`: the store failed, or the log cannot be read.
 */
export type PhaseSignal =
  | "loaded"
  | "claimed"
  | "lease-released"
  | "lease-lost"
  | "lease-given-up"
  | "log-lost"
  | "hand-over"
  | "idle"
  | "dispose";

/**
 * `abandon-work`: drop the lease and the effects under it. `end-work`: signal the effects, and record those that end soon. `release-lease`: give the
 * lease back to the store. `subscribe`: follow the log and the channel as the new phase needs it. `confirm-hand-over`: resolve the promises of the
 * callers. `stop`: end all subscriptions and timers, refuse the offers in the inbox. `dismiss-watchers`: notify them that the handle was disposed of.
 */
export type PhaseAction = "abandon-work" | "end-work" | "release-lease" | "subscribe" | "confirm-hand-over" | "stop" | "dismiss-watchers";

/** The result of a signal: the next phase, and the actions in this order. */
export interface Transition {
  readonly to: PhaseName;
  readonly actions: readonly PhaseAction[];
}

const to = (name: PhaseName, ...actions: readonly PhaseAction[]): Transition => ({ to: name, actions });

/** A signal that is absent in a phase changes nothing there. */
export const transitions: { readonly [From in PhaseName]: { readonly [Signal in PhaseSignal]?: Transition } } = {
  loading: {
    loaded: to("following"),
    "log-lost": to("loading", "abandon-work"),
    "hand-over": to("leaving", "end-work"),
    dispose: to("disposed", "abandon-work", "stop", "dismiss-watchers"),
  },
  following: {
    claimed: to("owning", "subscribe"),
    "lease-lost": to("following", "abandon-work"),
    "lease-given-up": to("following", "abandon-work"),
    "log-lost": to("loading", "abandon-work"),
    "hand-over": to("leaving", "end-work"),
    dispose: to("disposed", "abandon-work", "stop", "dismiss-watchers"),
  },
  owning: {
    "lease-released": to("following"),
    "lease-lost": to("following", "abandon-work"),
    "lease-given-up": to("following", "release-lease", "abandon-work"),
    "log-lost": to("loading", "abandon-work"),
    "hand-over": to("leaving", "end-work"),
    dispose: to("disposed", "release-lease", "abandon-work", "stop", "dismiss-watchers"),
  },
  leaving: {
    // A claim was in progress when the hand-over was requested.
    claimed: to("leaving", "subscribe"),
    "lease-lost": to("leaving", "abandon-work"),
    "lease-given-up": to("leaving", "release-lease", "abandon-work"),
    "log-lost": to("loading", "abandon-work", "confirm-hand-over"),
    idle: to("following", "confirm-hand-over"),
    dispose: to("disposed", "release-lease", "abandon-work", "confirm-hand-over", "stop", "dismiss-watchers"),
  },
  disposed: {
    // A claim was in progress.
    claimed: to("disposed", "release-lease"),
    idle: to("disposed", "stop"),
  },
};

/** The next phase and the actions. A pure function. */
export function nextPhase(
  phase: SessionPhase,
  signal: PhaseSignal,
): { readonly phase: SessionPhase; readonly actions: readonly PhaseAction[] } {
  const transition = transitions[phase.name][signal];
  if (!transition) return { phase, actions: [] };
  const mayOwn = phase.mayOwn && signal !== "hand-over";
  const isSame = transition.to === phase.name && mayOwn === phase.mayOwn;
  return { phase: isSame ? phase : { name: transition.to, mayOwn }, actions: transition.actions };
}
