import { z } from "zod";
import { listOf } from "./json.ts";
import { exactly } from "./schema-of-type.ts";

/** The caller, as the server knows it. */
export interface CallerAccess {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  /** The scopes that `X-Scope` may name, the current one first. */
  readonly scopes: readonly string[];
  /** When the credentials end. */
  readonly expiresAt?: number;
  /** True if the server has login by cookie. */
  readonly cookies: boolean;
  /** The ids of the application's routes. Absent: it has none. */
  readonly extensions?: readonly string[];
}

/** The caller, as the server knows it. */
export const callerAccess: z.ZodType<CallerAccess> = exactly<CallerAccess>()(
  z.object({
    user: z.string(),
    scope: z.string(),
    roles: listOf(z.string()).exactOptional(),
    scopes: listOf(z.string()),
    expiresAt: z.number().exactOptional(),
    cookies: z.boolean(),
    extensions: listOf(z.string()).exactOptional(),
  }),
);

/** A ticket for a stream. */
export interface TicketAnswer {
  readonly ticket: string;
  readonly expiresAt: number;
}

export const ticketAnswer: z.ZodType<TicketAnswer> = exactly<TicketAnswer>()(z.object({ ticket: z.string(), expiresAt: z.number() }));
