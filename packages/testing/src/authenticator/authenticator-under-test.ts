/** The sender of a request as the authenticator states it. The same shape as `Principal` of `@loopwright/server`. */
export interface StatedPrincipal {
  readonly user: string;
  readonly scope: string;
  readonly trusted?: boolean;
  readonly memberships?: unknown;
  readonly expiresAt?: number;
}

/** The other end of the connection, as `Caller` of `@loopwright/server`. */
export interface StatedCaller {
  readonly isLocal: boolean;
  readonly isExposed: boolean;
}

/** The callers that the kit asks about. */
export type KitCaller = "anne" | "ben" | "brief";

/** The parts of their principals that count. The credentials of `brief` end after ten minutes. */
export const kitCallers: { readonly [caller in KitCaller]: { readonly user: string; readonly scope: string; readonly endsInMs?: number } } =
  {
    anne: { user: "anne", scope: "garden" },
    ben: { user: "ben", scope: "kitchen" },
    brief: { user: "brief", scope: "garden", endsInMs: 600_000 },
  };

/** What a service that the authenticator depends on does in place of an answer. */
export type ServiceFate = "silence" | "error" | "unreadable" | "redirect" | "no-connection";

/** The service that gives verdicts, or keys. */
export interface ServiceUnderTest {
  /** From now on every request meets this fate. The promise resolves when the next one has come. */
  fail(fate: ServiceFate): Promise<void>;
  /** It answers again. */
  heal(): void;
  /** Lets the service refuse the credentials of a caller, or accept them again. Needed for `verdicts`. */
  setRefused?(caller: KitCaller, isRefused: boolean): void;
  /** The longest time in which the authenticator waits for an answer. */
  readonly deadlineMs: number;
}

/**
 * An authenticator on a clock that the test moves. It knows the callers of `kitCallers`.
 *
 * What it may lack: `ends` (its credentials have no end), `service` (it asks none), `verdicts` (no service may change its mind about a token), `secrets` (its
 * tokens can be invented), `place` (its credentials count from everywhere), `people` (its callers are services of the deployment).
 */
export interface AuthenticatorUnderTest {
  authenticate(request: Request, caller: StatedCaller): StatedPrincipal | undefined | Promise<StatedPrincipal | undefined>;
  /** The token of a caller, for `Authorization: Bearer`. */
  tokenOf(caller: KitCaller): string | Promise<string>;
  /** Moves its clock. */
  pass(ms: number): void;
  now(): number;
  /** Everything that it has logged, as text. */
  lines(): readonly string[];
  readonly service?: ServiceUnderTest;
}
