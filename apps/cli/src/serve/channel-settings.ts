import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { localScope } from "../compose/kept-sessions.ts";
import type { Environment } from "../config/environment.ts";
import { secretOf } from "../settings/secret-of.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** Values of options about chat channels. */
export interface ChannelFlags {
  readonly with?: string;
  readonly slackAllow?: string;
  readonly slackUrl?: string;
  readonly telegramAllow?: string;
  readonly telegramUrl?: string;
  readonly telegramWebhook?: string;
  readonly telegramWebhookPort?: string;
}

/** Users of the server, by the vendor's ids of people. */
type Allowed = { readonly [person: string]: { readonly user: string; readonly scope: string } };

/** An app of Slack. */
export interface SlackSettings {
  readonly botToken: string;
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  readonly allow: Allowed;
}

/** A bot of Telegram. */
export interface TelegramSettings {
  readonly token: string;
  readonly apiRoot: string | undefined;
  readonly webhook: { readonly url: string; readonly secret: string; readonly port: number } | undefined;
  readonly allow: Allowed;
}

/** The chat channels of a process. */
export interface ChannelSettings {
  readonly slack?: SlackSettings;
  readonly telegram?: TelegramSettings;
}

const defaultPort = "8443";

/** What settings of channels are read with. */
interface ChannelContext {
  readonly environment: Environment;
  readonly scope: string | undefined;
}

/** What the settings of one channel are read with. */
interface ChannelParts {
  readonly flags: ChannelFlags;
  readonly environment: Environment;
  readonly scope: string;
}

const readers: { readonly [name in keyof ChannelSettings]-?: (parts: ChannelParts) => NonNullable<ChannelSettings[name]> } = {
  slack: ({ flags, environment, scope }) => ({
    botToken: tokenOf(environment, "SLACK_BOT_TOKEN", "the Bot User OAuth Token of the app, which begins with `xoxb-`"),
    appToken: tokenOf(environment, "SLACK_APP_TOKEN", "an App-Level Token with the scope connections:write, which begins with `xapp-`"),
    apiUrl: flags.slackUrl,
    allow: peopleIn(flags.slackAllow, { id: "[UWB][A-Z0-9]+", example: "U024BE7LH=anne@garden", key: "channels.slack.allow" }, scope),
  }),
  telegram: ({ flags, environment, scope }) => ({
    token: tokenOf(environment, "TELEGRAM_BOT_TOKEN", "what @BotFather shows"),
    apiRoot: flags.telegramUrl?.replace(/\/+$/, ""),
    webhook: webhookOf(flags, environment),
    allow: peopleIn(flags.telegramAllow, { id: "\\d+", example: "11=anne@garden", key: "channels.telegram.allow" }, scope),
  }),
};

/** @throws AgentError CONFIG_INVALID for a channel that does not exist, or lacks what it needs */
export function channelSettings(flags: ChannelFlags, { environment, scope = localScope }: ChannelContext): ChannelSettings {
  const names = listOf(flags.with);
  const unknown = names.find((name) => !Object.hasOwn(readers, name));
  if (unknown !== undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(unknown, 40)}\` is no chat channel.`,
      fix: `Pass \`--with ${Object.keys(readers).join(",")}\`, one of these, or leave it out.`,
    });
  const parts = { flags, environment, scope };
  return {
    ...(names.includes("slack") ? { slack: readers.slack(parts) } : {}),
    ...(names.includes("telegram") ? { telegram: readers.telegram(parts) } : {}),
  };
}

/** @throws AgentError CONFIG_INVALID where it is not set */
function tokenOf(environment: Environment, name: string, value: string): string {
  const token = secretOf(environment[name], name);
  if (token !== undefined) return token;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`--with ${name.startsWith("SLACK") ? "slack" : "telegram"}\` needs ${name}, the token of a bot.`,
    fix: `Set ${name} to ${value}, or keep it with \`loopwright secrets set ${name}\`.`,
  });
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

/** How people are named in a setting. */
interface PersonForm {
  readonly id: string;
  readonly example: string;
  readonly key: string;
}

/** `11` or `11=anne` or `11=anne@garden`, with commas between them. */
function peopleIn(text: string | undefined, { id, example, key }: PersonForm, scope: string): Allowed {
  const pattern = new RegExp(`^(${id})(?:=([^@\\s]+)(?:@(.+))?)?$`);
  return Object.fromEntries(
    listOf(text).map((one) => {
      const [, person = "", user = localScope, named = scope] = pattern.exec(one) ?? [];
      if (person !== "" && isId(named)) return [person, { user, scope: named }];
      throw new AgentError("CONFIG_INVALID", {
        message: `\`${oneLine(one, 80)}\` names no person of the chat vendor.`,
        fix: `Write the id of the person, alone or as \`${example}\`, in \`${key}\`.`,
      });
    }),
  );
}

const listOf = (text = ""): readonly string[] => text.split(",").flatMap((one) => one.trim() || []);
