import { AgentError } from "@loopwright/core";
import type { Notification } from "@loopwright/core/ports";
import type { HttpLimits } from "./server-limits.ts";

/** Returns the notification if it can be delivered. @throws AgentError INPUT_INVALID, PAYLOAD_TOO_LARGE */
export function checkedNotification(
  notification: Notification,
  { notificationBytes }: Pick<HttpLimits, "notificationBytes">,
): Notification {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(notification.type))
    throw new AgentError("INPUT_INVALID", {
      message: "The type of the notification is not usable.",
      fix: "Use a name like `job_progress`: small letters, digits and _, at most 64.",
    });
  const text = jsonOf(notification);
  // A character takes at least one byte, so a text with too many characters need not be encoded.
  if (text === undefined || text.length > notificationBytes || new TextEncoder().encode(text).byteLength > notificationBytes)
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `The notification \`${notification.type}\` has more than ${notificationBytes} bytes as JSON.`,
      fix: "Send only what a client needs to request the rest, or raise `limits.notificationBytes`.",
    });
  return notification;
}

/** The notification as JSON; `undefined`: it is too long or too deep for `JSON.stringify`. @throws AgentError INPUT_INVALID */
function jsonOf(notification: Notification): string | undefined {
  try {
    return JSON.stringify(notification);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    const message = `The data of the notification \`${notification.type}\` cannot be sent as JSON.`;
    throw new AgentError("INPUT_INVALID", { message, fix: "Send plain data, without circles and without BigInts.", cause });
  }
}
