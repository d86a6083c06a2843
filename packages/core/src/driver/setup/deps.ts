import type { Access } from "../../loop/fact.ts";
import type { SessionStorage } from "../../memory/store/private-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { IdSource } from "../../ports/id-source.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { TokenCounter } from "../../ports/token-counter.ts";
import type { UsageLedger } from "../../ports/usage-ledger.ts";
import type { BoundAgent } from "./bound-agent.ts";
import type { CallGuard } from "./guarded-call.ts";
import type { Observation } from "./observation.ts";

/** Everything the driver of one session works with, defaults filled in. */
export interface Deps {
  readonly bound: BoundAgent;
  readonly sessionId: string;
  readonly ref: SessionRef;
  readonly store: SessionStorage;
  /** The store was made for this handle: no other process can claim the session, append to it or read its lanes, and it answers at once. */
  readonly isPrivate: boolean;
  readonly access: Access;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly observation: Observation | undefined;
  readonly ledger: UsageLedger | undefined;
  readonly tokenCounter: TokenCounter | undefined;
  readonly channel: EventChannel | undefined;
  readonly callGuard: CallGuard;
  readonly node: string;
  readonly leaseMs: number;
  /** May own the session. */
  readonly drives: boolean;
  /** `undefined`: the store is private, so no snapshots of the fold are kept. */
  readonly snapshotCheckShare: number | undefined;
}
