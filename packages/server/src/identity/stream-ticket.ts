import { AgentError } from "@loopwright/core";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";
import { keepPrincipal, placeOfSecret, readKept } from "./stored-principal.ts";

/** The query parameter of a ticket. */
export const ticketParameter = "ticket";

/** A ticket, and when it ends. */
export interface StreamTicket {
  readonly ticket: string;
  readonly expiresAt: number;
}

type TicketContext = Pick<ServerContext, "clock" | "limits" | "options">;

/** A ticket for one stream at a path, for the principal of the request. @throws AgentError STORE_* */
export async function issueTicket(principal: Principal, path: string, { clock, limits, options }: TicketContext): Promise<StreamTicket> {
  const now = clock.now();
  const expiresAt = Math.min(now + limits.ticketMs, principal.expiresAt ?? Number.POSITIVE_INFINITY);
  const { memberships: _, ...bound } = principal;
  const ticket = await keepPrincipal(options.store.blobs, "ticket", {
    scope: principal.scope,
    keptFor: () => ({ principal: bound, path }),
    endsAt: expiresAt,
    now,
  });
  return { ticket, expiresAt };
}

/**
 * Uses up a ticket, which can be used once on all nodes together, and returns its principal. The stream ends after `limits.ticketStreamMs`, because a
 * ticket cannot be checked again. @throws AgentError UNAUTHENTICATED in the same words for a ticket that was used, has ended, is for another path or was
 * never given
 */
export async function redeemTicket(ticket: string, path: string, { clock, limits, options }: TicketContext): Promise<Principal> {
  const { blobs } = options.store;
  const now = clock.now();
  const place = await placeOfSecret("ticket", ticket, now);
  const kept = place ? await readKept(blobs, place) : undefined;
  if (!place || kept?.path !== path) throw refused();
  // If several requests use the ticket at once, only one of them can write this mark. The mark stays until the ticket would have ended.
  const mark = { bytes: new Uint8Array(), ifAbsent: true };
  if (!(await blobs.put(place.scope, `${place.key}-used`, mark))) throw refused();
  await blobs.remove(place.scope, place.key);
  const { principal } = kept;
  return { ...principal, expiresAt: Math.min(principal.expiresAt ?? Number.POSITIVE_INFINITY, now + limits.ticketStreamMs) };
}

const refused = (): AgentError =>
  new AgentError("UNAUTHENTICATED", {
    message: "The ticket cannot be used for this request: a ticket is valid once, for one path, and for a short time.",
    fix: "Request another ticket with `POST /api/tickets`.",
  });
