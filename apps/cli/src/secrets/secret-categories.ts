import { AgentError } from "@loopwright/core";
import { variables } from "../config/variables.ts";
import { vendors } from "../config/vendors.ts";
import { passphraseVariable } from "./passphrase.ts";

/** The variables that hold secrets of known services, by what the service is for. One value has to do in one category alone. */
const categories: Readonly<Record<string, readonly string[]>> = {
  llm: vendors.flatMap(({ keys }) => keys),
  search: ["TAVILY_API_KEY", "PERPLEXITY_API_KEY"],
  telegram: ["TELEGRAM_BOT_TOKEN"],
  slack: ["SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"],
};

/** Variables of the environment that are secrets: those of known services, and our own. */
export const secretVariables: readonly string[] = [
  ...new Set([
    ...Object.values(categories).flat(),
    ...variables.filter(({ name, isSecret }) => isSecret && name !== passphraseVariable).map(({ name }) => name),
    ...["LOOPWRIGHT_TOKEN", "LOOPWRIGHT_INTERNAL_TOKEN"],
  ]),
];

/** Refuses one value in two categories: a token of a chat that is also the key of a vendor goes to both. @throws AgentError CONFIG_INVALID, without the value */
export function refuseReuse(values: Readonly<Record<string, string | undefined>>): void {
  const seen = new Map<string, { readonly name: string; readonly category: string }>();
  for (const [category, names] of Object.entries(categories)) {
    for (const name of names) {
      const value = values[name]?.trim();
      if (!value) continue;
      const other = seen.get(value);
      if (other && other.category !== category)
        throw new AgentError("CONFIG_INVALID", {
          message: `${other.name} and ${name} have the same value, and they are secrets of different services.`,
          fix: "Give each its own: one of them has probably been set by mistake.",
        });
      seen.set(value, { name, category });
    }
  }
}
