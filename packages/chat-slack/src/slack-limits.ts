/** Characters of Markdown in one message. Slack takes some 13,000 in blocks and shows a message of more than 4,000 folded. */
export const markdownCharsMax = 3_900;
/** The text beside the blocks, which notifications show. */
export const noticeCharsMax = 500;
/** Slack takes lists of so many levels. */
export const listLevelsMax = 8;
/** A request to the Web API. */
export const requestMs = 30_000;
/** From the request for a connection to Slack's greeting. */
export const greetingMs = 30_000;
/** After a connection that could not be made, doubled up to the second one. */
export const connectPauseMs = 1_000;
export const connectPauseMaxMs = 60_000;
/** How long the end of a connection waits for Slack's part in it. */
export const farewellMs = 1_000;
/** After a message that the server cannot take yet, doubled up to the second one. */
export const deliverPauseMs = 1_000;
export const deliverPauseMaxMs = 60_000;
/** Attempts to deliver a message whose failure does not look as if it will pass. Then it is dropped and reported. */
export const attemptsMax = 3;
/** Messages that wait for the server. Of more none is acknowledged, so that Slack sends them again. */
export const pendingMax = 1_000;
/** Keys that are kept of messages that were delivered or dropped: Slack redelivers a message for some minutes. */
export const settledMax = 2_000;
/** The names of people are asked for again after so long. */
export const nameLifeMs = 3_600_000;
/** Names of people that are kept. */
export const namesMax = 1_000;
/** An answer is announced after so long. */
export const interimAfterMs = 15_000;
/** How often a message shows what was streamed: Slack takes some fifty changes a minute. */
export const streamEveryMs = 2_000;
