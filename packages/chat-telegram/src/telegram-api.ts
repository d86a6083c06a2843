/*
 * Owns: requests to the Bot API: their deadlines, their errors, the waits that it asks for.
 * Invariants
 *  R1 no error has the token or the text of a message; R2 after 429 nothing is sent to that chat before `retry_after` has passed.
 */

import { pause } from "@loopwright/chat-kit";
import { AgentError, type Clock } from "@loopwright/core/protocol";
import { Api, GrammyError, type Transformer } from "grammy";
import { rateLimitRetriesMax, requestSeconds, retryAfterMaxMs } from "./telegram-limits.ts";

interface ApiParts {
  readonly token: string;
  readonly apiRoot: string | undefined;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
}

/** The Bot API of one bot. A request that meets 429 waits as it is asked to, and those after it for the same chat wait too. */
export function telegramApi({ token, apiRoot, clock, signal }: ApiParts): Api {
  const api = new Api(token, { ...(apiRoot === undefined ? {} : { apiRoot }), timeoutSeconds: requestSeconds });
  /** By chat. A request without one, such as that for updates, waits for its own method alone. */
  const blocked = new Map<string, Promise<void>>();
  const obeyLimits: Transformer = async (...[previous, method, payload, requestSignal]) => {
    const target = "chat_id" in payload ? String(payload.chat_id) : method;
    for (let retries = 0; ; retries++) {
      await blocked.get(target);
      const answer = await previous(method, payload, requestSignal);
      const seconds = answer.ok ? undefined : answer.parameters?.retry_after;
      if (answer.ok || answer.error_code !== 429 || seconds === undefined || retries >= rateLimitRetriesMax) return answer;
      const wait = pause(clock, Math.min(retryAfterMaxMs, seconds * 1_000), signal);
      blocked.set(target, wait);
      await wait;
      if (blocked.get(target) === wait) blocked.delete(target);
    }
  };
  api.config.use(obeyLimits);
  return api;
}

/** The error of a request as the bridge reads it; without the request. */
export function errorOfApi(error: unknown): AgentError {
  if (!(error instanceof GrammyError))
    return new AgentError("NOT_READY", {
      message: "The Bot API of Telegram did not answer.",
      fix: "Check the connection, and the address where another one is configured.",
    });
  const { error_code: status, method, parameters } = error;
  const message = `The Bot API of Telegram answered ${method} with ${status}.`;
  const vendorMessage = error.description;
  if (status === 401 || status === 404)
    return new AgentError("UNAUTHENTICATED", { message, fix: "Check TELEGRAM_BOT_TOKEN: @BotFather shows it.", vendorMessage });
  if (status === 403)
    return new AgentError("FORBIDDEN", { message, fix: "The bot was blocked or removed by the people of the chat.", vendorMessage });
  if (status === 409)
    return new AgentError("NOT_READY", {
      message,
      fix: "Another process asks for the updates of this bot, or it has a webhook. End the other one.",
      vendorMessage,
    });
  if (status === 429)
    return new AgentError("RATE_LIMITED", { message, retryAfterMs: (parameters.retry_after ?? 1) * 1_000, vendorMessage });
  if (status === 400 && /chat not found/i.test(vendorMessage))
    return new AgentError("FORBIDDEN", { message, fix: "The chat does not exist any more.", vendorMessage });
  if (status >= 400 && status < 500) return new AgentError("INPUT_INVALID", { message, fix: "See what it answered.", vendorMessage });
  return new AgentError("NOT_READY", { message, fix: "It is tried again.", vendorMessage });
}
