import { silentLogger, startDeadline, systemClock } from "@loopwright/core/memory";
import { complaintOf } from "../complaint.ts";
import { openChannel, openQueue } from "../compose/open-links.ts";
import { withoutSecret } from "../config/store-place.ts";
import type { Settings } from "../settings/settings.ts";
import type { Finding } from "./finding.ts";

/** How long a word may take from one end of the channel to the other. */
const channelMs = 5_000;
/** A scope and a session that do not exist: its events reach no reader. */
const noneThere = { scope: "doctor", session: "doctor" };

/** Whether channel and queue carry what they should; nothing of those that are not set. */
export async function checkLinks({ channelUrl, queueUrl }: Pick<Settings, "channelUrl" | "queueUrl">): Promise<readonly Finding[]> {
  const checks: Promise<Finding>[] = [];
  if (channelUrl !== undefined) checks.push(finding("channel", channelUrl, () => checkChannel(channelUrl)));
  if (queueUrl !== undefined) checks.push(finding("queue", queueUrl, () => checkQueue(queueUrl)));
  return Promise.all(checks);
}

async function finding(what: string, url: string, check: () => Promise<string | undefined>): Promise<Finding> {
  try {
    const trouble = await check();
    const where = withoutSecret(url);
    return trouble === undefined ? { what, state: "ok", text: `${where} answers` } : { what, state: "bad", text: `${where}\n${trouble}` };
  } catch (error) {
    return { what, state: "bad", text: [withoutSecret(url), ...complaintOf(error)].join("\n") };
  }
}

/** Publishes an event at one end and waits for it at the other. */
async function checkChannel(url: string): Promise<string | undefined> {
  const [speaker, listener] = [await openChannel(url, silentLogger), await openChannel(url, silentLogger)];
  let cancel = (): void => {};
  try {
    const isReceived = await new Promise<boolean>((resolve) => {
      const end = startDeadline(systemClock, { ms: channelMs }, () => resolve(false));
      const stop = listener.subscribeScope(noneThere.scope, {
        notification: () => resolve(true),
        gap: () => speaker.notify(noneThere.scope, { type: "doctor" }),
      });
      cancel = () => {
        end();
        stop();
      };
    });
    return isReceived ? undefined : `Nothing came through within ${channelMs / 1_000} s.`;
  } finally {
    cancel();
    await Promise.all([speaker.close(), listener.close()]);
  }
}

/** A hint may be about nothing: workers look and see. */
async function checkQueue(url: string): Promise<undefined> {
  const queue = await openQueue(url, silentLogger);
  try {
    await queue.offer(noneThere);
  } finally {
    await queue.close();
  }
}
