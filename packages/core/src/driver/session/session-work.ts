/*
 * Owns: the work of an owner: effects that are being prepared, effects under way, the draft of what they stream, and their closing
 * facts on the way to the inbox.
 * Does not own: what is owed (plan), what is recorded (the driver).
 */
import type { FactBody } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { EffectHost } from "../effects/effect-deps.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import { createDrafts, type Drafts, noDrafts } from "../live/drafts.ts";
import type { Hub } from "../live/hub.ts";
import { openLanes } from "../live/open-lanes.ts";
import { type Note, noteFact } from "../log/note-fact.ts";
import type { Deps } from "../setup/deps.ts";
import { driverLimits } from "../setup/session-options.ts";
import { ClosingFacts } from "./closing-facts.ts";
import { EffectPreparation, type Launch } from "./effect-preparation.ts";
import type { Inbox } from "./inbox.ts";
import { createEffects, type Effects } from "./session-effects.ts";
import type { Speculation } from "./speculation.ts";

/** What the work needs of the session. */
export interface SessionWorkHost {
  /** The newest adopted state. */
  readonly state: State;
  /** Something can be recorded or launched that could not before. */
  wake(): void;
  /** The same, and a batch can take it before the user code that is waited for. */
  interrupt(): void;
}

export interface SessionWorkParts {
  readonly session: SessionWorkHost;
  readonly hub: Hub;
  readonly builder: RequestBuilder;
  readonly inbox: Inbox;
}

export class SessionWork implements EffectHost {
  readonly #session: SessionWorkHost;
  readonly #inbox: Inbox;
  readonly #effects: Effects;
  readonly #preparation: EffectPreparation;
  readonly #closings: ClosingFacts;
  readonly #drafts: Drafts;
  readonly #clock: Clock;
  #cancelEnd: (() => void) | undefined;

  constructor(deps: Deps, { session, hub, builder, inbox }: SessionWorkParts) {
    this.#session = session;
    this.#clock = deps.clock;
    this.#drafts = deps.isPrivate ? noDrafts : createDrafts(deps, hub);
    this.#inbox = inbox;
    this.#closings = new ClosingFacts(deps, { inbox, session });
    this.#effects = createEffects({ deps, builder, hub, session: this });
    this.#preparation = new EffectPreparation({ effects: this.#effects, clock: deps.clock, session });
  }

  /** Effects under way, those included whose closing fact is on the way. */
  get count(): number {
    return this.#effects.count();
  }

  get state(): State {
    return this.#session.state;
  }

  close(body: FactBody): Promise<void> {
    return this.#closings.add(body, this.count);
  }

  async record(note: Note): Promise<void> {
    const recorded = this.#inbox.put({ bodies: () => [noteFact(note)], needsOwner: false });
    this.#session.interrupt();
    await recorded;
  }

  effectLeft(): void {
    this.#session.wake();
  }

  prepareOwed(speculation: Speculation): SyncOrAsync<readonly Launch[]> {
    return this.#preparation.prepareOwed(speculation);
  }

  /** Signals what the state does not want any more. */
  onState(state: State): void {
    this.#effects.onState(state);
  }

  /** Keeps a draft of the open lanes of an owner, for readers on other nodes. */
  keepDraft(state: State, isOwner: boolean): void {
    this.#drafts.keep(isOwner && openLanes(state).length > 0);
  }

  /** Ends the wait for user code. */
  interrupt(): void {
    this.#preparation.interrupt();
  }

  /** Signals everything, for a hand-over: what ends within 500 ms is recorded still, the rest is forgotten. */
  end(): void {
    this.#preparation.interrupt();
    this.#preparation.forget();
    this.#effects.handOver();
    this.#cancelEnd ??= this.#clock.after(driverLimits.handOverMs, () => {
      this.#effects.forget();
      this.#session.wake();
    });
  }

  /** The hand-over is over. */
  ended(): void {
    this.#cancelEnd?.();
    this.#cancelEnd = undefined;
  }

  /** Forgets everything: another process may own the session, so what runs here counts no more. */
  abandon(): void {
    this.#drafts.keep(false);
    this.#effects.forget();
    this.#preparation.interrupt();
    this.#preparation.forget();
    this.#inbox.dropClosings();
  }
}
