// What goes wrong in a product: a tool, a hook, an observer, a route and the directory of its users, each with words that belong in no log.
import { defineTool, type Hooks, type Observer, type Tool, textOf } from "@loopwright/core";
import { type Authenticate, bearerToken, bearerTokens, type ExtensionRoute, type Principal } from "@loopwright/server";

export interface Troubles {
  readonly tools: readonly Tool[];
  readonly hooks: readonly Hooks[];
  readonly observers: readonly Observer[];
  readonly routes: readonly ExtensionRoute[];
  readonly authenticate: Authenticate;
}

export interface TroubleOptions {
  /** Stands in the text of every error, as the password in the address of a database would. */
  readonly secret: string;
  readonly users: { readonly [token: string]: Principal };
  /** The directory of users breaks on this one. */
  readonly brokenToken: string;
}

export function troubles({ secret, users, brokenToken }: TroubleOptions): Troubles {
  const known = bearerTokens(users);
  const boom = (words: string): never => {
    throw new Error(`No connection with ${secret} for ${words}`, { cause: new Error(`Bearer ${secret}`) });
  };
  const breakDown = defineTool({
    ...{ name: "break_down", description: "Breaks.", replay: "pure" },
    parameters: { type: "object", properties: { about: { type: "string" } }, required: ["about"] },
    execute: ({ about }: { readonly about: string }): string => boom(about),
  });
  return {
    tools: [breakDown],
    hooks: [
      {
        name: "moody",
        accept({ message }) {
          if (textOf(message).includes("hook")) boom(textOf(message));
        },
        prepare({ logger, messages }) {
          const last = messages.at(-1);
          if (last?.role !== "user" || !textOf(last).includes("preparation")) return;
          logger.log("warn", "This will not end well.", { apiKey: secret, prompt: textOf(last) });
          boom(textOf(last));
        },
      },
    ],
    observers: [
      {
        facts(_, facts) {
          for (const fact of facts)
            if (fact.type === "input.accepted" && fact.message && textOf(fact.message).includes("observer")) boom(textOf(fact.message));
        },
      },
    ],
    routes: [{ method: "GET", path: "/api/broken", id: "broken", handle: ({ principal }) => boom(principal.user) }],
    authenticate(request, caller) {
      if (bearerToken(request) === brokenToken) boom(brokenToken);
      return known(request, caller);
    },
  };
}
