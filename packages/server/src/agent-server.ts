import type { Notification } from "@loopwright/core/ports";
import type { Host } from "@loopwright/host";
import type { Listenable } from "./http/listenable.ts";

/** Agents behind HTTP. */
export interface AgentServer extends Listenable, Pick<Host, "running" | "ready" | "drain" | "recover"> {
  /**
   * Drains, waits until the runs of this process have ended (at most `withinMs`, default `limits.drainMs`), hands open runs over to other nodes,
   * and closes. Resolves with the number of sessions that were handed over. A server over a given host only closes, and resolves with 0.
   */
  handOver: Host["handOver"];
  /**
   * Ends all streams and releases all sessions at once. Open runs are left as after a crash: the process that gets a hint from the queue, or the next
   * sweep, continues them. Store, channel, queue and a given host stay open. A second call does nothing.
   */
  close(): Promise<void>;
  /**
   * Sends a notification to all streams of `/api/notifications` of a scope, or to those of one user. @throws AgentError INPUT_INVALID for an
   * invalid type or data that is not JSON; PAYLOAD_TOO_LARGE over `limits.notificationBytes`; on an error no stream gets it
   */
  notify(scope: string, notification: Notification): void;
}
