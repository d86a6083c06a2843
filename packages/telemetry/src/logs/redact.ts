import type { Json } from "@loopwright/core";

type Fields = { readonly [name: string]: Json | undefined };

/** Names of fields whose value is a secret, and of those whose value is content. */
const secretWords = "key|token|secret|password|passwd|authorization|cookie|credential|ticket";
const secretNames = [new RegExp(`(?:^|[_.-])(?:api)?(?:${secretWords})s?$`, "i"), new RegExp(`[a-z](?:${capitalized(secretWords)})s?$`)];
/** Keys that open nothing: they name a call or a request. */
const openNames = new Set(["callKey", "idempotencyKey"]);
const contentNames = /^(?:prompt|system|systemPrompt|input|output|content|messages?|args|arguments|text|answer|body|vendorMessage|thrown)$/;
/** Texts that are keys or tokens, wherever they are: keys of vendors, `Bearer`, JSON Web Tokens, credentials in addresses. */
const secretTexts =
  /\b(?:sk|pk|rk|xai|gsk|key|nvapi|tvly|pplx|csk)-[A-Za-z0-9_-]{12,}|\b(?:hf|r8|fw)_[A-Za-z0-9]{12,}|\bya29\.[A-Za-z0-9_-]{12,}|(?<=[?&](?:key|api[-_]?key|access[-_]?token|token)=)[^\s&"']+|\bAIza[0-9A-Za-z_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b|\b(?:[Bb]earer|[Bb]asic)\s+[A-Za-z0-9._~+/=-]{8,}|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(?<=:\/\/)[^\s/:@]*:[^\s/@]+(?=@)/g;

const depthMax = 6;

/** The text without keys and tokens. `secrets`: further texts that must not appear. */
export function redactText(text: string, secrets: readonly string[] = []): string {
  const cleaned = text.replace(secretTexts, "[redacted]");
  return secrets.reduce((rest, secret) => (secret.length >= 4 ? rest.replaceAll(secret, "[redacted]") : rest), cleaned);
}

/** The fields of a log record without keys, tokens and content. */
export function redactFields(fields: Fields, secrets: readonly string[] = []): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [redactText(name, secrets), redacted(name, value, { secrets, depth: 0 })]),
  );
}

function redacted(
  name: string,
  value: Json | undefined,
  at: { readonly secrets: readonly string[]; readonly depth: number },
): Json | undefined {
  if (value === undefined || value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (!openNames.has(name) && secretNames.some((pattern) => pattern.test(name))) return "[redacted]";
  if (contentNames.test(name)) return "[content]";
  if (typeof value === "string") return redactText(name === "stack" || name === "cause" ? withoutMessage(value) : value, at.secrets);
  if (at.depth >= depthMax) return "[deep]";
  const below = { ...at, depth: at.depth + 1 };
  if (Array.isArray(value)) return value.map((item: Json) => redacted("", item, below) ?? null);
  const entries = Object.entries(value as { readonly [name: string]: Json });
  return Object.fromEntries(entries.map(([key, item]) => [redactText(key, at.secrets), redacted(key, item, below) ?? null]));
}

/** An error as text, or its stack, without its message, which may hold content: the name of its class and the frames. */
function withoutMessage(text: string): string {
  const [name = ""] = /^[A-Z][\w.]*(?=:|\n|$)/.exec(text) ?? [];
  const frames = text.split("\n").filter((line) => /^\s+at\s/.test(line));
  return [name === "" ? "[content]" : `${name}: [content]`, ...frames].join("\n");
}

function capitalized(words: string): string {
  return words.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}
