import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { localScope } from "../compose/kept-sessions.ts";
import type { Environment } from "../config/environment.ts";
import { secretOf } from "../settings/secret-of.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** Values of options about chat channels. */
export interface ChannelFlags {
  readonly with?: string;
  readonly telegramAllow?: string;
  readonly telegramUrl?: string;
  readonly telegramWebhook?: string;
  readonly telegramWebhookPort?: string;
}

/** A bot of Telegram. */
export interface TelegramSettings {
  readonly token: string;
  readonly apiRoot: string | undefined;
  readonly webhook: { readonly url: string; readonly secret: string; readonly port: number } | undefined;
  readonly allow: { readonly [person: string]: { readonly user: string; readonly scope: string } };
}

/** The chat channels of a process. */
export interface ChannelSettings {
  readonly telegram?: TelegramSettings;
}

const known = ["telegram"];
const defaultPort = "8443";

/** What settings of channels are read with. */
interface ChannelContext {
  readonly environment: Environment;
  readonly scope: string | undefined;
}

/** @throws AgentError CONFIG_INVALID for a channel that does not exist, or lacks what it needs */
export function channelSettings(flags: ChannelFlags, { environment, scope = localScope }: ChannelContext): ChannelSettings {
  const names = listOf(flags.with);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(unknown, 40)}\` is no chat channel.`,
      fix: `Pass \`--with ${known.join(",")}\`, or leave it out.`,
    });
  if (names.length === 0) return {};
  const token = secretOf(environment["TELEGRAM_BOT_TOKEN"], "TELEGRAM_BOT_TOKEN");
  if (token === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: "`--with telegram` needs the token of a bot.",
      fix: "Set TELEGRAM_BOT_TOKEN to what @BotFather shows, or keep it with `loopwright secrets set TELEGRAM_BOT_TOKEN`.",
    });
  const allow = Object.fromEntries(listOf(flags.telegramAllow).map((text) => personOf(text, scope)));
  return { telegram: { token, apiRoot: flags.telegramUrl?.replace(/\/+$/, ""), webhook: webhookOf(flags, environment), allow } };
}

function webhookOf(
  { telegramWebhook: url, telegramWebhookPort: port = defaultPort }: ChannelFlags,
  environment: Environment,
): TelegramSettings["webhook"] {
  if (url === undefined) return undefined;
  const secret = secretOf(environment["TELEGRAM_WEBHOOK_SECRET"], "TELEGRAM_WEBHOOK_SECRET");
  if (secret === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: "A webhook of Telegram needs a secret, by which its messages are known.",
      fix: "Set TELEGRAM_WEBHOOK_SECRET, for example to what `openssl rand -hex 32` prints.",
    });
  return { url, secret, port: Number(port) };
}

/** `11` or `11=anne` or `11=anne@garden`. */
function personOf(text: string, scope: string): [string, { readonly user: string; readonly scope: string }] {
  const [, person = "", user = localScope, named = scope] = /^(\d+)(?:=([^@\s]+)(?:@(.+))?)?$/.exec(text) ?? [];
  if (person !== "" && isId(named)) return [person, { user, scope: named }];
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 80)}\` names no person of Telegram.`,
    fix: "Write the number of the person, alone or as `11=anne@garden`, in `channels.telegram.allow`.",
  });
}

const listOf = (text = ""): readonly string[] => text.split(",").flatMap((one) => one.trim() || []);
