/*
 * Owns: the way of events out of the logs of sessions to targets.
 * Does not own: what an event is (the log), one attempt (`post-delivery.ts`).
 * Invariants
 *  O1 an event is delivered at least once, with the same id at each attempt, also over restarts: only how far a session was delivered is kept;
 *  O2 the events of a session are delivered in the order of its log; O3 a target that fails holds back no other one;
 *  O4 a target is disabled once, with a report that states why and since when; what it missed is delivered when it is enabled;
 *  O5 an event that a target rejects, and a log that cannot be read, hold back their own session alone.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { systemClock } from "@loopwright/core/memory";
import { AgentError, type Clock } from "@loopwright/core/protocol";
import { type UrlPolicy, urlGuard } from "@loopwright/url-guard";
import { deliveryPoster } from "./post-delivery.ts";
import type { WebhookPrincipal } from "./receive-webhooks.ts";
import { keyOf } from "./signature.ts";
import { targetLoop, type WebhookStatus } from "./target-loop.ts";
import type { WebhookMemory } from "./webhook-memory.ts";

/** Where events go. */
export interface OutgoingWebhook {
  readonly url: string;
  /** As those of an incoming webhook. */
  readonly secrets: readonly string[];
  /** The user whose sessions are reported: those that this user may see. */
  readonly principal: WebhookPrincipal;
  /** Types of events. Default: `defaultEvents`. */
  readonly events?: readonly string[] | undefined;
}

/** What is reported where nothing else is asked for: messages, questions, and how runs end. */
export const defaultEvents: readonly string[] = [
  "message_end",
  "approval_requested",
  "awaiting_tool_execution",
  "error",
  "run_end",
  "session_closed",
];

export interface SendWebhooksOptions {
  /** By name. */
  readonly webhooks: { readonly [name: string]: OutgoingWebhook };
  /** A client whose requests are those of this user. */
  readonly clientFor: (principal: WebhookPrincipal) => LoopwrightClient;
  readonly memory: WebhookMemory;
  /** Which addresses may be reached. Default: those of the public web. */
  readonly policy?: UrlPolicy | undefined;
  readonly clock?: Pick<Clock, "now" | "after">;
  /** Numbers in [0, 1) that spread attempts. */
  readonly random?: () => number;
  /** Gets what goes wrong, without secrets and bodies. */
  readonly report: (message: string, cause: unknown) => void;
}

/** Deliveries at work. */
export interface WebhookSender {
  status(name: string): WebhookStatus;
  /** Has a disabled target try again; what it missed is delivered. */
  enable(name: string): void;
  close(): Promise<void>;
}

/** Delivers the events of sessions to targets until it is closed. A target that is new gets what happens from now on. @throws AgentError CONFIG_INVALID */
export function sendWebhooks(options: SendWebhooksOptions): WebhookSender {
  const { webhooks, clientFor, memory, policy, clock = systemClock, random = Math.random, report } = options;
  for (const [name, { secrets }] of Object.entries(webhooks)) checkTarget(name, secrets);
  const leaving = new AbortController();
  const { signal } = leaving;
  const poster = deliveryPoster(urlGuard({ policy }), clock);
  const parts = { memory, poster, clock, random, report, signal };
  const loops = new Map(
    Object.entries(webhooks).map(([name, { principal, events = defaultEvents, ...target }]) => [
      name,
      targetLoop({ ...parts, client: clientFor(principal), target: { ...target, name, events: new Set(events), scope: principal.scope } }),
    ]),
  );
  const loopOf = (name: string) => {
    const loop = loops.get(name);
    if (!loop) throw new AgentError("INPUT_INVALID", { message: `There is no webhook ${JSON.stringify(name.slice(0, 60))}.` });
    return loop;
  };
  return {
    status: (name) => loopOf(name).status(),
    enable: (name) => loopOf(name).enable(),
    async close() {
      leaving.abort();
      await Promise.all([...loops.values()].map(({ ended }) => ended));
      poster.close();
    },
  };
}

function checkTarget(name: string, secrets: readonly string[]): void {
  for (const secret of secrets) keyOf(secret);
  if (secrets.length > 0 && /^[\w-]{1,60}$/.test(name)) return;
  throw new AgentError("CONFIG_INVALID", {
    message: `The webhook ${JSON.stringify(name.slice(0, 60))} needs a name of letters, digits, \`_\` and \`-\`, and a secret.`,
  });
}
