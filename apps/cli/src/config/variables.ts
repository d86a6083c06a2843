import { options } from "./options.ts";
import { vendors } from "./vendors.ts";

/** A variable that is no option. */
export interface ConfigVariable {
  readonly name: string;
  readonly text: string;
  readonly isSecret?: true;
}

/** The variables beside those of options: keys of vendors, and what belongs to a machine. None has a flag or a key in the file. */
export const variables: readonly ConfigVariable[] = [
  ...vendors.flatMap(({ title, keys }) => keys.map((name) => ({ name, text: `the key of ${title}`, isSecret: true as const }))),
  {
    name: "LOOPWRIGHT_SECRETS_PASSPHRASE",
    text: "opens the files of `loopwright secrets`; better as a file, by LOOPWRIGHT_SECRETS_PASSPHRASE_FILE, or typed",
    isSecret: true,
  },
  { name: "LOOPWRIGHT_SECRETS", text: "`false`: files of secrets are not opened" },
  { name: "LOOPWRIGHT_OPENAI_ISSUER", text: "the authorisation server of `loopwright login`, where it is not that of OpenAI" },
  { name: "LOOPWRIGHT_OPENAI_CLIENT_ID", text: "the client that `loopwright login` is there; default: that of OpenAI's command line" },
  { name: "LOOPWRIGHT_OPENAI_LOGIN_URL", text: "the API that takes the tokens of a login, where it is not that of OpenAI" },
  { name: "OLLAMA_HOST", text: "where Ollama answers; chooses it where no key is set" },
  {
    name: "LOOPWRIGHT_MASTER_KEY",
    text: "encrypts keys of users; 32 random bytes, as `openssl rand -base64 32` prints them",
    isSecret: true,
  },
  {
    name: "LOOPWRIGHT_OLDER_MASTER_KEYS",
    text: "earlier master keys, with commas between them, which still open what they encrypted",
    isSecret: true,
  },
  { name: "LOOPWRIGHT_OWN_KEYS_ORIGINS", text: "servers of one's own network that users may name, with commas between them" },
  { name: "LOOPWRIGHT_REDIS_DURABILITY", text: "`none`: take a Redis without an append-only file" },
  { name: "LOOPWRIGHT_STATE_DIR", text: "where this machine keeps what it saw last of a Redis" },
  { name: "LOOPWRIGHT_OFFLINE_PACE", text: "milliseconds between two words of the offline model" },
  { name: "SLACK_BOT_TOKEN", text: "the token of the bot of `--with slack`, `xoxb-`", isSecret: true },
  { name: "SLACK_APP_TOKEN", text: "the token of its app with the scope connections:write, `xapp-`", isSecret: true },
  { name: "TELEGRAM_BOT_TOKEN", text: "the token of the bot of `--with telegram`, as @BotFather shows it", isSecret: true },
  { name: "TELEGRAM_WEBHOOK_SECRET", text: "Telegram sends it with each message to the webhook", isSecret: true },
  { name: "AWS_REGION", text: "the region of a bucket" },
  { name: "AWS_ENDPOINT_URL_S3", text: "a server of buckets that is not Amazon's" },
  { name: "AWS_ACCESS_KEY_ID", text: "the name of the key of a bucket" },
  { name: "AWS_SECRET_ACCESS_KEY", text: "the key of a bucket", isSecret: true },
  { name: "AWS_SESSION_TOKEN", text: "of temporary credentials of a bucket", isSecret: true },
];

/** Every variable that is read here. Each may also be given as a file, by its name and `_FILE`. */
export const variableNames: readonly string[] = [
  ...options.flatMap(({ variable }) => variable ?? []),
  ...variables.map(({ name }) => name),
];
