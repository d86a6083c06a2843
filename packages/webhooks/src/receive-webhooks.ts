/*
 * Owns: the way of a delivery into a session.
 * Invariants
 *  R1 a delivery whose signature is wrong causes no request; R2 a delivery becomes exactly one input, however often it comes: its id is the idempotency key;
 *  R3 the answer is a success only when the input is in the log; R4 no input goes to a session that another user has opened.
 */
import { createHash } from "node:crypto";
import type { LoopwrightClient } from "@loopwright/client";
import { systemClock } from "@loopwright/core/memory";
import { AgentError, type Clock, isAgentError, isId } from "@loopwright/core/protocol";
import { type CheckedDelivery, checkDelivery, keyOf } from "./signature.ts";
import { bodyBytesMax } from "./webhook-limits.ts";

/** A user of Loopwright. */
export interface WebhookPrincipal {
  readonly user: string;
  readonly scope: string;
}

/** A door for deliveries of one service. */
export interface IncomingWebhook {
  /** `whsec_` and base64, or texts of at least 24 bytes. Two while one takes the place of the other. */
  readonly secrets: readonly string[];
  /** The user whose inputs the deliveries are. */
  readonly principal: WebhookPrincipal;
  /** The session that gets all of them; it is created where it is absent. Default: each delivery begins one. */
  readonly session?: string | undefined;
  /** Of new sessions. Default: the server's first. */
  readonly agent?: string | undefined;
  /** Words before the body, such as what the agent is to do with it. */
  readonly prompt?: string | undefined;
  /** In place of the signature of Standard Webhooks, for services that sign in another way. Gives the id of the delivery; `undefined`: it is refused. */
  readonly verify?: (delivery: { readonly headers: Headers; readonly body: string }) => string | undefined | Promise<string | undefined>;
}

export interface ReceiveWebhooksOptions {
  /** By name: the last part of the path. */
  readonly webhooks: { readonly [name: string]: IncomingWebhook };
  /** A client whose requests are those of this user. */
  readonly clientFor: (principal: WebhookPrincipal) => LoopwrightClient;
  readonly clock?: Pick<Clock, "now">;
  /** Gets what goes wrong, without secrets and bodies. */
  readonly report: (message: string, cause: unknown) => void;
}

const answered = (status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json({ detail }, { status, headers });

/** Answers deliveries of services: a door of this name gives its input to a session. Never rejects. */
export function receiveWebhooks({
  webhooks,
  clientFor,
  clock = systemClock,
  report,
}: ReceiveWebhooksOptions): (request: Request) => Promise<Response> {
  const doors = new Map(Object.entries(webhooks).map(([name, webhook]): [string, Door] => [name, { ...webhook, name }]));
  for (const { name, secrets, verify, session } of doors.values()) {
    for (const secret of secrets) keyOf(secret);
    if (!/^[\w-]{1,60}$/.test(name) || (secrets.length === 0 && !verify) || (session !== undefined && !isId(session)))
      throw new AgentError("CONFIG_INVALID", {
        message: `The webhook ${JSON.stringify(name.slice(0, 60))} needs a name of letters, digits, \`_\` and \`-\`, a secret, and a valid id where it names a session.`,
      });
  }
  return async (request) => {
    const door = doors.get(new URL(request.url).pathname.split("/").at(-1) ?? "");
    if (!door) return answered(404, "There is no such webhook.");
    if (request.method !== "POST") return answered(405, "Deliveries are sent by POST.", { Allow: "POST" });
    const body = await bodyOf(request).catch(() => null);
    if (body === null) return answered(400, "The body did not arrive whole, or is no text in UTF-8.");
    if (body === undefined) return answered(413, `A delivery has at most ${bodyBytesMax} bytes.`);
    try {
      const checked = await check(door, { headers: request.headers, body }, clock.now());
      if ("refused" in checked) return answered(401, `The delivery was refused: ${checked.refused}.`);
      const taken = await record(door, { ...checked, body }, clientFor(door.principal));
      return Response.json(taken, { status: 202 });
    } catch (error) {
      report(`A delivery of the webhook ${door.name} was not taken.`, error);
      const isPassing = !isAgentError(error) || error.retryable;
      const seconds = isAgentError(error) && error.retryAfterMs !== undefined ? Math.ceil(error.retryAfterMs / 1_000) : 5;
      if (isPassing) return answered(503, "The delivery could not be taken. Send it again.", { "Retry-After": String(seconds) });
      return answered(422, "The delivery was not taken.");
    }
  };
}

type Door = IncomingWebhook & { readonly name: string };

async function check(
  { verify, secrets }: Door,
  delivery: { readonly headers: Headers; readonly body: string },
  now: number,
): Promise<CheckedDelivery> {
  if (!verify) return checkDelivery(secrets, delivery, now);
  const id = await verify(delivery);
  return id === undefined || id === "" ? { refused: "wrong signature" } : { id };
}

/** Gives the delivery to its session; the same delivery gives the same answer. */
async function record(
  { name, principal, session, agent, prompt }: Door,
  { id, body }: { readonly id: string; readonly body: string },
  { sessions }: LoopwrightClient,
): Promise<{ readonly sessionId: string; readonly inputId: string | undefined }> {
  const digest = createHash("sha256")
    .update(JSON.stringify([name, id]))
    .digest("hex");
  const sessionId = session ?? `webhook-${digest.slice(0, 32)}`;
  const begun = { id: sessionId, metadata: { webhook: name }, ...(agent === undefined ? {} : { agent }) };
  const isOpen = () => isOpenedBy(principal, sessions, sessionId);
  if (!(await isOpen()))
    await sessions.create(begun, { idempotencyKey: `webhook-${sessionId}` }).catch(async (error: unknown) => {
      // Another webhook of the same session has created it in the meantime.
      if (!(await isOpen())) throw error;
    });
  try {
    const { inputId } = await sessions.submit(sessionId, textOf({ name, prompt, body }), { idempotencyKey: `webhook-${digest}` });
    return { sessionId, inputId };
  } catch (error) {
    // The log has this delivery, with the words that the operator had before it then.
    if (isAgentError(error, "KEY_REUSED")) return { sessionId, inputId: undefined };
    throw error;
  }
}

/** Whether the session exists. @throws AgentError FORBIDDEN if another user has opened it: that user would read the deliveries */
async function isOpenedBy({ user }: WebhookPrincipal, sessions: LoopwrightClient["sessions"], id: string): Promise<boolean> {
  const found = await sessions.get(id).catch((error: unknown) => {
    if (isAgentError(error, "SESSION_NOT_FOUND")) return undefined;
    throw error;
  });
  if (!found || found.participants?.[0] === user) return found !== undefined;
  throw new AgentError("FORBIDDEN", {
    message: `The session ${id} was opened by another user than the one of the webhook.`,
    fix: "Name another session, or have this user open it before others can.",
  });
}

/** The words of the operator, then the body in a fence that it cannot close. */
function textOf({ name, prompt, body }: { readonly name: string; readonly prompt: string | undefined; readonly body: string }): string {
  let ticksMax = 2;
  for (const [ticks] of body.matchAll(/`+/g)) if (ticks.length > ticksMax) ticksMax = ticks.length;
  const fence = "`".repeat(ticksMax + 1);
  return `${prompt ?? `A delivery of the webhook ${name}:`}\n\n${fence}\n${body}\n${fence}`;
}

/** `undefined` for a body over the limit. Of the text that it gives the bytes are those that were signed. @throws for one that breaks off, or is not in UTF-8 */
async function bodyOf(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
}
