import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import { readFallbacks, shownFallback } from "./fallback-model.ts";
import { holdsServers } from "./mcp-servers.ts";
import type { ConfigOption } from "./option.ts";
import { redisUrlOf, withoutSecret } from "./store-place.ts";

/** The value of an option. */
export type ConfigValue = string | boolean | readonly string[];

const truths: ReadonlyMap<string, boolean> = new Map([
  ...["1", "true", "yes", "on"].map((text) => [text, true] as const),
  ...["0", "false", "no", "off"].map((text) => [text, false] as const),
]);

/** What a text comes to for this option. `source` names where it stands. @throws AgentError CONFIG_INVALID, without the value of a secret */
export function readValue(option: ConfigOption, text: string, source: string): ConfigValue {
  const wrong = (what: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message: `${source} ${what}.`, fix });
  const shown = `\`${oneLine(text, 60)}\``;
  switch (option.kind) {
    case "switch": {
      const truth = truths.get(text.trim().toLowerCase());
      if (truth === undefined)
        throw wrong(`is ${shown}, and it is a switch`, "Set `true` or `false` (`1` or `0` in a variable), or leave it out.");
      return truth;
    }
    case "number": {
      const [min, max] = option.range ?? [0, Number.MAX_SAFE_INTEGER];
      if (isBetween(text.trim(), min, max)) return text.trim();
      throw wrong(`is ${shown}, and it is a number`, `Set one from ${min} to ${max}.`);
    }
    case "choice": {
      const wanted = text.trim().toLowerCase();
      if (option.values?.includes(wanted)) return wanted;
      throw wrong(`is ${shown}, and that is none of its values`, `Set one of these: ${option.values?.join(", ")}.`);
    }
    case "http":
      if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
      throw wrong("is no http or https address", "Set one such as `http://localhost:8888`.");
    case "redis":
      return redisUrlOf(text, source);
    case "file":
      return truths.get(text.trim().toLowerCase()) ?? text;
    case "models":
      return readFallbacks(text, source);
    case "list":
      return text.split(",").flatMap((one) => one.trim() || []);
    case "text":
    case "servers":
    case "names":
      return text;
    default:
      return option.kind satisfies never;
  }
}

const isBetween = (text: string, min: number, max: number): boolean =>
  /^\d+(\.\d+)?$/.test(text) && Number(text) >= min && Number(text) <= max;

/** The value for people: a secret is masked, and an address is shown without its user, password and query. */
export function shownValue(option: ConfigOption, value: ConfigValue): string {
  if (option.isSecret) return "********";
  if (option.kind === "models" && typeof value === "object") return value.map(shownFallback).join(", ") || "none";
  const text = typeof value === "object" ? value.join(", ") : String(value);
  // Values of headers and variables are not shown.
  if (option.kind === "servers" && holdsServers(text)) return Object.keys(JSON.parse(text) as object).join(", ");
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text) ? withoutSecret(text) : text;
}
