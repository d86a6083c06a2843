import type { ChatRoom } from "../chat/chat-room.ts";
import { latestSession } from "../compose/kept-sessions.ts";
import { openSession, openWorkplace } from "../compose/workplace.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsOf, styleFor } from "./flags.ts";

/** Flags of `chat`. */
interface ChatFlags extends SharedFlags {
  readonly resume?: string;
  readonly continue?: boolean;
}

/** Talks until the person leaves; returns the exit code. Without a terminal it shows the named session, or the offline model at work. */
export async function chat(flags: ChatFlags): Promise<number> {
  const { stdin: input, stdout: output } = process;
  const hasTerminal = input.isTTY === true && output.isTTY === true;
  const isDemonstration = !hasTerminal && !flags.resume && !flags.continue;
  const settings = await settingsOf(isDemonstration ? offlineOf(flags) : flags);
  const workplace = await openWorkplace(settings, { isAttended: !isDemonstration });
  try {
    const id = flags.continue ? await latestSession(workplace.store) : flags.resume;
    const session = await openSession(workplace, id);
    const room: ChatRoom = { workplace, session, style: styleFor(output, flags), input, output };
    if (isDemonstration) await (await import("../chat/demonstrate.ts")).demonstrate(room);
    else if (!hasTerminal) await (await import("../chat/demonstrate.ts")).showResumed(room);
    else if (flags.plain || process.env["TERM"] === "dumb") await (await import("../chat/plain-chat.ts")).plainChat(room);
    else await (await import("../chat/terminal-chat.ts")).terminalChat(room);
    return exitCodes.ok;
  } finally {
    await workplace.store.close();
  }
}

/** A demonstration never asks a real vendor. */
function offlineOf({ provider: _, model: __, baseUrl: ___, ...flags }: ChatFlags): ChatFlags {
  return { ...flags, offline: true };
}
