import { errorTable, isAgentError } from "@loopwright/core/protocol";

/** A request that is refused before anything runs. */
class ChatRefused extends Error {}

/** @throws ChatRefused */
export function refuse(message: string): never {
  throw new ChatRefused(message);
}

/** A refusal as one sentence, which the AI SDK shows as the error's message. @throws any error that is neither a refusal nor an AgentError */
export function refusalOf(error: unknown): Response {
  if (error instanceof ChatRefused) return new Response(error.message, { status: 400, headers: plainText });
  if (!isAgentError(error)) throw error;
  const status = Object.hasOwn(errorTable, error.code) ? errorTable[error.code].status : 500;
  return new Response(sentenceOf(error), { status, headers: plainText });
}

/** An error for people. @throws any error that is no AgentError */
export function sentenceOf(error: unknown): string {
  if (!isAgentError(error)) throw error;
  return `${error.message} ${error.fix}`.trim();
}

const plainText = { "content-type": "text/plain; charset=utf-8" };
