/*
 * Owns: the request for updates.
 * Invariants
 *  P1 an update is confirmed only after it was taken: the next request names the one after it;
 *  P2 what may pass is tried until it does; what may not is left out after a few attempts, and reported.
 */
import { isTransient, pause, type ReportProblem } from "@loopwright/chat-kit";
import type { Clock } from "@loopwright/core/protocol";
import type { Api } from "grammy";
import type { Update } from "grammy/types";
import { errorOfApi } from "./telegram-api.ts";
import { attemptsMax, pollPauseMaxMs, pollPauseMs, pollSeconds } from "./telegram-limits.ts";

/** The kinds of updates that are asked for. */
export const updateKinds = ["message", "callback_query"] as const;

interface PollParts {
  readonly api: Api;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
  readonly take: (update: Update) => Promise<void>;
}

/** Asks for updates until the signal is aborted. */
export async function pollUpdates({ api, clock, signal, report, take }: PollParts): Promise<void> {
  let offset: number | undefined;
  for (let failures = 0; !signal.aborted; ) {
    try {
      const asked = { timeout: pollSeconds, allowed_updates: updateKinds, ...(offset === undefined ? {} : { offset }) };
      const updates = await api.getUpdates(asked, signal as Parameters<Api["getUpdates"]>[1]);
      failures = 0;
      for (const update of updates) {
        await takeSurely({ clock, signal, report, take }, update);
        offset = update.update_id + 1;
      }
    } catch (error) {
      if (signal.aborted) return;
      const known = errorOfApi(error);
      if (failures === 0) report("Telegram did not give the updates of the bot. They are asked for again.", known);
      await pause(clock, known.retryAfterMs ?? Math.min(pollPauseMaxMs, pollPauseMs * 2 ** failures), signal).catch(() => {});
      failures++;
    }
  }
}

async function takeSurely({ clock, signal, report, take }: Omit<PollParts, "api">, update: Update): Promise<void> {
  for (let failures = 0; ; failures++) {
    try {
      return await take(update);
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error) && failures + 1 >= attemptsMax)
        return report("An update of Telegram could not be taken and is left out.", error);
      if (failures === 0) report("An update of Telegram could not be taken yet. It is tried again.", error);
      await pause(clock, Math.min(pollPauseMaxMs, pollPauseMs * 2 ** failures), signal);
    }
  }
}
