import { AgentError } from "@loopwright/core";
import type { ChatPlace } from "../chat/chat-place.ts";
import type { ChatRoom } from "../chat/chat-room.ts";
import { localPlace } from "../chat/local-place.ts";
import { commandName } from "../command-name.ts";
import { openWorkplace } from "../compose/workplace.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsOf, settingsWithSecrets, styleFor } from "../flags.ts";
import { type ServerFlags, serverOf } from "../remote/server-address.ts";
import { childEnvironment, lendToChildren } from "../secrets/child-environment.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { modeLabels, typedModes } from "../settings/typed-modes.ts";

/** Flags of `chat`. */
interface ChatFlags extends SharedFlags, ServerFlags {
  readonly resume?: string;
  readonly continue?: boolean;
  readonly modes?: string;
}

/** Talks until the person leaves; returns the exit code. Without a terminal it shows the named session, or the offline model at work. */
export async function chat(flags: ChatFlags): Promise<number> {
  if (flags.url !== undefined) return remoteChat(flags);
  const isDemonstration = !hasTerminal() && !flags.resume && !flags.continue;
  const settings = isDemonstration ? await settingsOf(offlineOf(flags)) : await settingsWithSecrets(flags, { logger: errorLogger });
  lendToChildren(await childEnvironment(settings));
  const workplace = await openWorkplace(settings, { isAttended: !isDemonstration });
  try {
    await talk(localPlace(workplace, modeLabels(typedModes(flags.modes), workplace.modes)), flags);
    return exitCodes.ok;
  } finally {
    await workplace.close();
  }
}

async function remoteChat(flags: ChatFlags): Promise<number> {
  if (!hasTerminal() && !flags.resume && !flags.continue) {
    throw new AgentError("INPUT_INVALID", {
      message: "There is no terminal to talk on.",
      fix: 'Ask once with `loopwright ask --url <url> "..."`, or show a session with `--resume <id>`.',
    });
  }
  const server = await serverOf(flags);
  const { remotePlace } = await import("../remote/remote-place.ts");
  await talk(await remotePlace(server, { agent: flags.agent, modes: typedModes(flags.modes) }), flags);
  return exitCodes.ok;
}

async function talk(place: ChatPlace, flags: ChatFlags): Promise<void> {
  const { stdin: input, stdout: output } = process;
  const id = flags.continue ? await latestOf(place) : flags.resume;
  const session = await place.open(id);
  const room: ChatRoom = { place, session, style: styleFor(output, flags), input, output };
  if (!hasTerminal() && id === undefined) await (await import("../chat/demonstrate.ts")).demonstrate(room);
  else if (!hasTerminal()) await (await import("../chat/demonstrate.ts")).showResumed(room);
  else if (flags.plain || process.env["TERM"] === "dumb") await (await import("../chat/plain-chat.ts")).plainChat(room);
  else await (await import("../chat/terminal-chat.ts")).terminalChat(room);
}

const hasTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Id of the session that changed last. @throws AgentError SESSION_NOT_FOUND when there is none. */
async function latestOf(place: ChatPlace): Promise<string> {
  const [latest] = await place.list(1);
  if (latest) return latest.id;
  throw new AgentError("SESSION_NOT_FOUND", {
    message: "There is no session to continue yet.",
    fix: `Start one with \`${commandName()} chat\`.`,
  });
}

/** A demonstration never asks a real vendor. */
function offlineOf({ provider: _, model: __, baseUrl: ___, ...flags }: ChatFlags): ChatFlags {
  return { ...flags, offline: true };
}
