import type { ConfigOption } from "./option.ts";

/** The options of chat channels. Tokens of bots are variables: see `variables`. */
export const channelOptions = [
  {
    name: "with",
    kind: "names",
    flag: "--with <names>",
    variable: "LOOPWRIGHT_CHANNELS",
    key: "channels.start",
    commands: "run",
    text: "chat channels that are started too, with commas between them: `telegram`, whose token is in TELEGRAM_BOT_TOKEN",
    fallback: "none",
  },
  {
    name: "telegramAllow",
    kind: "names",
    variable: "LOOPWRIGHT_TELEGRAM_ALLOW",
    key: "channels.telegram.allow",
    commands: "run",
    text: "people of Telegram that need no code, by their ids, with commas between them: `11`, or `11=anne@garden` for the user of a scope",
    fallback: "none: codes of `loopwright link` link people",
  },
  {
    name: "telegramUrl",
    kind: "http",
    variable: "LOOPWRIGHT_TELEGRAM_URL",
    key: "channels.telegram.url",
    commands: "run",
    text: "a Bot API server of one's own",
    fallback: "that of Telegram",
  },
  {
    name: "telegramWebhook",
    kind: "http",
    variable: "LOOPWRIGHT_TELEGRAM_WEBHOOK",
    key: "channels.telegram.webhook",
    commands: "run",
    text: "the https address to which Telegram sends messages, with the secret of TELEGRAM_WEBHOOK_SECRET",
    fallback: "messages are asked for",
  },
  {
    name: "telegramWebhookPort",
    kind: "number",
    variable: "LOOPWRIGHT_TELEGRAM_WEBHOOK_PORT",
    key: "channels.telegram.webhook_port",
    commands: "run",
    range: [1, 65_535],
    text: "where a proxy of this machine passes them on",
    fallback: "8443",
  },
] as const satisfies readonly ConfigOption[];
