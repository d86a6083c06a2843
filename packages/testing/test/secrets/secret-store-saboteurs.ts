import { AgentError } from "@loopwright/core";
import { memorySecrets } from "@loopwright/core/memory";
import type { SecretStore } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { SecretsUnderTest } from "../../src/secrets/secret-store-kit.ts";

/** An honest store for the kit: all handles share one memory. */
export async function makeMemorySecrets(): Promise<SecretsUnderTest> {
  const secrets = memorySecrets();
  return { secrets, again: async () => secrets };
}

const spoiled = (spoil: (honest: SecretStore) => Partial<SecretStore>) => async (): Promise<SecretsUnderTest> => {
  const honest = memorySecrets();
  const whole: SecretStore = {
    get: (scope, name) => honest.get(scope, name),
    set: (scope, name, value) => honest.set(scope, name, value),
    remove: (scope, name) => honest.remove(scope, name),
    names: (scope) => honest.names(scope),
  };
  const make = (): SecretStore => ({ ...whole, ...spoil(honest) });
  return { secrets: make(), again: async () => make() };
};

/** Names scope and name as one text. */
const joined = (scope: string, name: string): string => `${scope}-${name.replace(":", "-")}`;

/** Defects of stores of secrets. */
export const secretStoreSaboteurs: readonly Saboteur<SecretsUnderTest>[] = [
  {
    defect: "gives an empty text for what is absent",
    breaks: ["absent", "removed", "scopes"],
    make: spoiled((honest) => ({ get: async (scope, name) => (await honest.get(scope, name)) ?? "" })),
  },
  {
    defect: "trims values",
    breaks: ["set-get"],
    make: spoiled((honest) => ({ set: (scope, name, value) => honest.set(scope, name, value.trim() || value) })),
  },
  {
    defect: "keeps what a handle has read before",
    breaks: ["replaced", "set-get", "removed"],
    make: spoiled((honest) => {
      const read = new Map<string, string>();
      return {
        async get(scope, name) {
          const value = read.get(`${scope}/${name}`) ?? (await honest.get(scope, name));
          if (value !== undefined) read.set(`${scope}/${name}`, value);
          return value;
        },
        async remove(scope, name) {
          const value = await honest.get(scope, name);
          if (value !== undefined) read.set(`${scope}/${name}`, value);
          return honest.remove(scope, name);
        },
      };
    }),
  },
  {
    defect: "keeps values in its process alone",
    breaks: ["at-once", "durable", "removed", "replaced"],
    make: async () => ({ secrets: memorySecrets(), again: async () => memorySecrets() }),
  },
  {
    defect: "lists names in the order in which they were set",
    breaks: ["at-once", "durable", "names"],
    make: spoiled((honest) => {
      const order: string[] = [];
      return {
        async set(scope, name, value) {
          await honest.set(scope, name, value);
          if (!order.includes(name)) order.unshift(name);
        },
        async names(scope) {
          const known = await honest.names(scope);
          return order.length === 0 ? [...known].reverse() : order.filter((name) => known.includes(name));
        },
      };
    }),
  },
  {
    defect: "joins scope and name to one key",
    breaks: ["names", "scopes"],
    make: spoiled((honest) => {
      const scopes = new Map<string, Set<string>>();
      return {
        async get(scope, name) {
          await honest.get(scope, name);
          return honest.get("all", joined(scope, name));
        },
        async set(scope, name, value) {
          await honest.set(scope, name, value);
          await honest.set("all", joined(scope, name), value);
          scopes.set("all", (scopes.get("all") ?? new Set()).add(name));
        },
        async remove(scope, name) {
          const had = await honest.remove(scope, name);
          return (await honest.remove("all", joined(scope, name))) || had;
        },
        async names(scope) {
          return scope === "one" ? [...(await honest.names("one")), ...(await honest.names("two"))] : honest.names(scope);
        },
      };
    }),
  },
  {
    defect: "empties a secret when it is removed, and never reports that there was none",
    breaks: ["absent", "removed", "scopes"],
    make: spoiled((honest) => ({
      async remove(scope, name) {
        const had = await honest.get(scope, name);
        if (had !== undefined) await honest.set(scope, name, "removed");
        return true;
      },
    })),
  },
  {
    defect: "writes back what it read a moment before",
    breaks: ["at-once"],
    make: async () => {
      let all = new Map<string, string>();
      const honest = memorySecrets();
      const make = (): SecretStore => ({
        async get(scope, name) {
          await honest.names(scope);
          await honest.get(scope, name);
          return all.get(JSON.stringify([scope, name]));
        },
        async set(scope, name, value) {
          const seen = new Map(all);
          await memorySecrets().set(scope, name, value);
          all = seen.set(JSON.stringify([scope, name]), value);
        },
        async remove(scope, name) {
          await honest.remove(scope, name);
          return all.delete(JSON.stringify([scope, name]));
        },
        async names(scope) {
          await honest.names(scope);
          return [...all.keys()]
            .map((key) => JSON.parse(key) as [string, string])
            .flatMap(([of, name]) => (of === scope ? [name] : []))
            .sort();
        },
      });
      return { secrets: make(), again: async () => make() };
    },
  },
  {
    defect: "takes an empty value",
    breaks: ["refused"],
    make: spoiled((honest) => ({ set: (scope, name, value) => honest.set(scope, name, value === "" ? "empty" : value) })),
  },
  {
    defect: "repeats the value in its errors",
    breaks: ["hidden"],
    make: spoiled((honest) => ({
      set: (scope, name, value) =>
        honest.set(scope, name, value).catch(() => {
          throw new AgentError("INPUT_INVALID", { message: `The secret ${value} could not be stored.` });
        }),
    })),
  },
];
