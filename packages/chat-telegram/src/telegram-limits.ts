/** @see https://core.telegram.org/bots/api#sendmessage (2026-11-20): characters of a message after its markup is taken out. */
export const messageCharsMax = 4_096;
/** How long one request for updates waits for news. */
export const pollSeconds = 30;
/** After a failed request for updates, doubled up to the second one. */
export const pollPauseMs = 1_000;
export const pollPauseMaxMs = 60_000;
/** Attempts to take an update whose failure does not look as if it will pass. Then it is left out and reported. */
export const attemptsMax = 3;
/** A request to the Bot API, beside those that wait for updates. */
export const requestSeconds = 60;
/** The largest body of a webhook. */
export const webhookBytesMax = 1_048_576;
/** How often a request is sent again after 429 before its caller learns of it. */
export const rateLimitRetriesMax = 3;
/** The longest wait that a 429 may ask for. */
export const retryAfterMaxMs = 900_000;
