import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { companion } from "../compose/companion.ts";
import { exitCodes } from "../exit-code.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { chatMemoryPath } from "./open-channels.ts";

/** Prints a code that links the person that sends it to the bot; returns the exit code. @throws AgentError CONFIG_INVALID */
export async function link({
  user,
  scope,
  json,
}: {
  readonly user: string;
  readonly scope: string;
  readonly json?: boolean;
}): Promise<number> {
  if (!isId(scope) || user.trim() === "")
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(scope, 80)}\` is no scope, or the user is empty.`,
      fix: "Pass `--user` and `--scope` as the credentials of that user have them.",
    });
  const { createLinkCode, openChatMemory } = await companion("@loopwright/chat-kit", () => import("@loopwright/chat-kit"));
  const memory = openChatMemory(chatMemoryPath());
  try {
    const { code, expiresAt } = createLinkCode(memory, { user, scope });
    const text = json
      ? JSON.stringify({ code, expiresAt })
      : `Send this to the bot in a private chat, within ten minutes:\n\n  /link ${code}`;
    process.stdout.write(`${text}\n`);
  } finally {
    memory.close();
  }
  return exitCodes.ok;
}
