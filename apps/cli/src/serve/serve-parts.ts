import type { ResolveModel } from "@loopwright/core";
import type { ScopeRetention } from "@loopwright/user-settings";
import type { Links } from "../compose/open-links.ts";
import type { Telemetry } from "../compose/open-telemetry.ts";
import type { OwnKeys } from "../compose/own-keys/open-own-keys.ts";
import type { Workplace } from "../compose/workplace.ts";
import type { Authentication } from "./authentication.ts";
import type { RunLogger } from "./run-logger.ts";
import type { RunSettings } from "./run-settings.ts";

/** What a process is made of. */
export interface ServeParts {
  readonly workplace: Workplace;
  readonly links: Links;
  readonly telemetry: Telemetry;
  readonly wishes: RunSettings;
  readonly authentication: Authentication;
  readonly logger: RunLogger;
  /** Absent: users bring no keys. */
  readonly ownKeys: OwnKeys | undefined;
  /** How long the sessions of scopes are kept: the rules of the configuration, and those that scopes have set. */
  readonly retention: ScopeRetention;
  /** The model of a call, where it is not that of the agent. */
  readonly resolveModel: ResolveModel;
  /** Called once it serves; without an address where it does not listen. */
  readonly onReady: ((url: string | undefined) => void) | undefined;
  /** Called at SIGHUP; true: another configuration is ready, and this one is to end. Absent: SIGHUP ends the process. */
  readonly reload: (() => Promise<boolean>) | undefined;
}
