import type { Notification } from "@loopwright/core/ports";
import type { Host } from "@loopwright/host";
import type { Listenable } from "./http/listenable.ts";

/** Agents behind HTTP. */
export interface AgentServer extends Listenable, Pick<Host, "running" | "ready" | "drain" | "recover"> {
  /**
   * Drains, waits until what runs here has come to rest, at most so long (default `limits.drainMs`), gives the rest to other nodes in order,
   * and closes. Resolves with how many sessions were handed over. Over a host that was given it closes alone: 0.
   */
  handOver: Host["handOver"];
  /**
   * Ends all streams and lets go of all sessions at once: what runs is left, as after a crash, to the process that a hint reaches or the next
   * one that looks. Store, channel, queue, and a host that was given stay open. Twice is once.
   */
  close(): Promise<void>;
  /**
   * Sends a notification to all streams of `/api/notifications` of a scope, or to those of one user. @throws AgentError INPUT_INVALID for a
   * type that is no name and for what is no JSON; PAYLOAD_TOO_LARGE over `limits.notificationBytes`; then it is sent to none
   */
  notify(scope: string, notification: Notification): void;
}
