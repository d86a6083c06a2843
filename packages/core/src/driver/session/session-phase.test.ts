import { describe, expect, it } from "vitest";
import { nextPhase, type PhaseAction, type PhaseName, type PhaseSignal, transitions } from "./session-phase.ts";

const signals: readonly PhaseSignal[] = [
  "loaded",
  "claimed",
  "lease-released",
  "lease-lost",
  "lease-given-up",
  "log-lost",
  "hand-over",
  "idle",
  "dispose",
];

const names: readonly PhaseName[] = ["loading", "following", "owning", "leaving", "disposed"];

interface Row {
  readonly from: PhaseName;
  readonly signal: PhaseSignal;
  readonly to: PhaseName;
  readonly actions: readonly PhaseAction[];
  readonly title: string;
}

const row = (from: PhaseName, signal: PhaseSignal, to: PhaseName, actions: readonly PhaseAction[], title: string): Row => ({
  ...{ from, signal, to, actions, title },
});

const rows: readonly Row[] = [
  row("loading", "loaded", "following", [], "a session that was read is followed"),
  row("loading", "log-lost", "loading", ["abandon-work"], "a log that cannot be read is read again by the next use"),
  row("loading", "hand-over", "leaving", ["end-work"], "a session can be handed over before it was read"),
  row(
    "loading",
    "dispose",
    "disposed",
    ["abandon-work", "stop", "dismiss-watchers"],
    "a handle can be disposed of before it has read anything",
  ),
  row("following", "claimed", "owning", ["subscribe"], "a claim makes this process the owner"),
  row("following", "lease-lost", "following", ["abandon-work"], "a second report of a lost lease finds nothing more to lose"),
  row("following", "lease-given-up", "following", ["abandon-work"], "a follower has no lease to give up"),
  row("following", "log-lost", "loading", ["abandon-work"], "a follower that loses the log reads it again"),
  row("following", "hand-over", "leaving", ["end-work"], "a follower can be asked to hand over"),
  row("following", "dispose", "disposed", ["abandon-work", "stop", "dismiss-watchers"], "a follower has no lease to release"),
  row("owning", "lease-released", "following", [], "an owner whose session rests gives the lease back and follows"),
  row("owning", "lease-lost", "following", ["abandon-work"], "an owner that was replaced forgets its work and tells the store nothing"),
  row(
    "owning",
    "lease-given-up",
    "following",
    ["release-lease", "abandon-work"],
    "an owner that cannot go on tells the store before it forgets",
  ),
  row("owning", "log-lost", "loading", ["abandon-work"], "an owner that loses the log behaves as if its process had died"),
  row("owning", "hand-over", "leaving", ["end-work"], "a hand-over lets the work that ends soon be recorded under the lease"),
  row(
    "owning",
    "dispose",
    "disposed",
    ["release-lease", "abandon-work", "stop", "dismiss-watchers"],
    "an owner that is disposed of releases the lease at once",
  ),
  row("leaving", "claimed", "leaving", ["subscribe"], "a claim that is answered during a hand-over launches nothing"),
  row("leaving", "lease-lost", "leaving", ["abandon-work"], "a lease that is lost during a hand-over ends its work"),
  row("leaving", "lease-given-up", "leaving", ["release-lease", "abandon-work"], "a newer log ends the work of a hand-over"),
  row("leaving", "log-lost", "loading", ["abandon-work", "confirm-hand-over"], "a hand-over is over when the log is lost"),
  row("leaving", "idle", "following", ["confirm-hand-over"], "a hand-over is over when a round ends without a lease"),
  row(
    "leaving",
    "dispose",
    "disposed",
    ["release-lease", "abandon-work", "confirm-hand-over", "stop", "dismiss-watchers"],
    "a hand-over is over when its handle is disposed of",
  ),
  row("disposed", "claimed", "disposed", ["release-lease"], "a claim that is answered too late is released"),
  row("disposed", "idle", "disposed", ["stop"], "what the last round subscribed to is ended"),
];

describe("the phases of a session", () => {
  it.each(rows)("$from, $signal: $title", ({ from, signal, to, actions }) => {
    const mayOwn = signal !== "hand-over";
    expect(nextPhase({ name: from, mayOwn: true }, signal)).toEqual({ phase: { name: to, mayOwn }, actions });
  });

  it("have no transition beside these, and a signal without one changes nothing", () => {
    const tested = new Set(rows.map(({ from, signal }) => `${from} ${signal}`));
    for (const name of names) {
      for (const signal of signals) {
        expect(transitions[name][signal] !== undefined, `${name} ${signal}`).toBe(tested.has(`${name} ${signal}`));
        const phase = { name, mayOwn: false };
        if (!transitions[name][signal]) expect(nextPhase(phase, signal)).toEqual({ phase, actions: [] });
      }
    }
  });

  it("never let a session that was handed over be owned again", () => {
    let phase = nextPhase({ name: "owning", mayOwn: true }, "hand-over").phase;
    for (const signal of ["lease-lost", "idle", "log-lost", "loaded"] as const) phase = nextPhase(phase, signal).phase;
    expect(phase).toEqual({ name: "following", mayOwn: false });
  });

  it("never leave `disposed`", () => {
    for (const signal of signals) expect(nextPhase({ name: "disposed", mayOwn: true }, signal).phase.name).toBe("disposed");
  });

  it("release or drop the lease whenever they leave `owning`, unless it was released or is still needed", () => {
    for (const [signal, { to, actions }] of Object.entries(transitions.owning))
      if (to !== "leaving" && signal !== "lease-released") expect(actions, signal).toContain("abandon-work");
  });
});
