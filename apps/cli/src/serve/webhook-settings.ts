import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import type { IncomingWebhook, OutgoingWebhook } from "@loopwright/webhooks";
import { localScope } from "../compose/kept-sessions.ts";
import type { Environment } from "../config/environment.ts";
import { secretOf } from "../settings/secret-of.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** The webhooks of a process. */
export interface WebhookSettings {
  readonly in: { readonly [name: string]: IncomingWebhook };
  readonly out: { readonly [name: string]: OutgoingWebhook };
  /** Targets that are not on the public web and may be reached. */
  readonly privateOrigins: readonly string[];
}

interface Reading {
  readonly file: string;
  readonly environment: Environment;
}

const fields = {
  file: ["in", "out", "privateOrigins"],
  in: ["secret", "user", "scope", "session", "agent", "prompt"],
  out: ["secret", "user", "scope", "url", "events"],
} as const;

/** Reads the text of a file that lists webhooks. Secrets are named by their variables. @throws AgentError CONFIG_INVALID, which names the webhook and the field */
export function webhookSettings(text: string, reading: Reading): WebhookSettings {
  const { in: incoming, out: outgoing, privateOrigins } = recordIn(jsonOf(text, reading.file), "the file", fields.file);
  const settings = {
    in: mapped(incoming, "in", (one, where) => ({
      ...common(one, where, reading),
      ...optional(one, where, ["session", "agent", "prompt"]),
    })),
    out: mapped(outgoing, "out", (one, where) => ({
      ...common(one, where, reading),
      url: textIn(one, "url", where) ?? missing("url", where),
      ...(one["events"] === undefined ? {} : { events: textsIn(one["events"], `${where}.events`) }),
    })),
    privateOrigins: privateOrigins === undefined ? [] : textsIn(privateOrigins, "privateOrigins"),
  };
  if (Object.keys(settings.in).length + Object.keys(settings.out).length > 0) return settings;
  throw wrong("The file of webhooks lists none.", "Write at least one below `in` or `out`.");
}

type Fields = { readonly [name: string]: unknown };

const wrong = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });

function missing(field: string, where: string): never {
  throw wrong(`The webhook ${where} has no \`${field}\`.`, `Write it in the file of webhooks.`);
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(`The webhooks in \`${oneLine(file, 200)}\` are not JSON.`, "See docs/webhooks.md for an example.");
  }
}

function recordIn(value: unknown, where: string, known: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrong(`${where} is no object.`, "See docs/webhooks.md for an example.");
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw wrong(`\`${oneLine(unknown, 40)}\` in ${where} is not known.`, `Known are ${known.join(", ")}.`);
  return value as Fields;
}

function mapped<T>(value: unknown, kind: "in" | "out", read: (fields: Fields, where: string) => T): { readonly [name: string]: T } {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw wrong(`\`${kind}\` is no object.`, "See docs/webhooks.md for an example.");
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const where = `${kind}.${oneLine(name, 60)}`;
      return [name, read(recordIn(one, where, fields[kind]), where)];
    }),
  );
}

function common(one: Fields, where: string, { environment }: Reading): Pick<IncomingWebhook, "secrets" | "principal"> {
  const names = one["secret"] === undefined ? [] : textsIn(one["secret"], `${where}.secret`);
  const scope = textIn(one, "scope", where) ?? localScope;
  if (!isId(scope)) throw wrong(`The webhook ${where} names a scope that is none.`, "Use letters, digits, `-` and `_`.");
  const secrets = names.map((name) => {
    const secret = secretOf(environment[name], name);
    if (secret === undefined)
      throw wrong(
        `The webhook ${where} takes its secret from ${oneLine(name, 80)}, which is not set.`,
        "Set the variable, to `whsec_` and what `openssl rand -base64 32` prints.",
      );
    return secret;
  });
  if (secrets.length === 0) missing("secret", where);
  return { secrets, principal: { user: textIn(one, "user", where) ?? localScope, scope } };
}

const optional = (one: Fields, where: string, names: readonly string[]): { readonly [name: string]: string } =>
  Object.fromEntries(
    names
      .flatMap((name) => [[name, textIn(one, name, where)] as const])
      .flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );

function textIn(one: Fields, name: string, where: string): string | undefined {
  const value = one[name];
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw wrong(`\`${name}\` of the webhook ${where} is no text.`, "Write it as a text.");
}

function textsIn(value: unknown, where: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((one) => typeof one === "string" && one !== "")) return list as readonly string[];
  throw wrong(`\`${where}\` is no list of texts.`, "Write a text, or several in a list.");
}
