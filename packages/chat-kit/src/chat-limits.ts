/** An answer of more messages is sent as its beginning and a file. */
export const messagesMax = 3;
/** The arguments of a call are shown in the message up to so many characters, then as a file. */
export const shownArgsCharsMax = 1_500;
/** What is added to a text that is still streamed. */
export const interimSlackChars = 3;
/** How often a surface is asked to show that an answer is being made. */
export const workingEveryMs = 4_000;
/** Sessions that are followed at once; the one without news for the longest is left first. */
export const followersMax = 200;
/** Attempts to deliver begin again after so long, doubled up to the second one. */
export const deliveryPauseMs = 1_000;
export const deliveryPauseMaxMs = 60_000;
/** How long the other messages of a vendor wait for an answer of the bot itself to be delivered. */
export const replyPatienceMs = 5_000;
/** A person without a link gets the same answer in a chat once in so long. */
export const unlinkedPauseMs = 3_600_000;
/** Chats with such answers that are remembered. */
export const unlinkedChatsMax = 1_000;
/** The ids of inputs that a chat has sent, of which the newest are kept. */
export const ownInputsMax = 50;
/** How long a link code may be used. */
export const codeLifeMs = 600_000;
/** Wrong codes of one person within the life of a code. */
export const wrongCodesMax = 5;
/** The longest name of a person that a model reads. */
export const nameCharsMax = 64;
/** Clients of principals that are kept. */
export const clientsMax = 100;
