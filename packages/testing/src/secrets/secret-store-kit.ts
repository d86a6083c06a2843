import { isAgentError } from "@loopwright/core";
import { type SecretStore, secretLimits } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";

/** An empty store of secrets. */
export interface SecretsUnderTest {
  readonly secrets: SecretStore;
  /** Another handle on what this one stored, as another process or a later start would have it. */
  readonly again: () => Promise<SecretStore>;
}

const value = "sk-first-0123456789";

/** The code of the error that a call is refused with, and everything that a log could show of it. */
async function refusal(call: () => Promise<unknown>): Promise<{ readonly code: string; readonly shown: string }> {
  try {
    await call();
    return { code: "none", shown: "" };
  } catch (error) {
    const shown = error instanceof Error ? `${error.message}\n${error.stack}\n${JSON.stringify(error)}` : String(error);
    return { code: isAgentError(error) ? error.code : "another error", shown };
  }
}

/** The promises of `SecretStore`. */
export const secretStoreKit: StoreKit<SecretsUnderTest> = [
  {
    id: "absent",
    promise: "a secret that was never set is absent, and so is every name of its scope",
    async run(make) {
      const { secrets } = await make();
      expectSame(
        [await secrets.get("one", "A"), await secrets.names("one"), await secrets.remove("one", "A")],
        [undefined, [], false],
        "empty",
      );
    },
  },
  {
    id: "set-get",
    promise: "a secret is read as it was set, whatever characters it holds and however long it is",
    async run(make) {
      const { secrets } = await make();
      for (const text of [value, "  spaces\nand lines\t", "ключ 🔑 \u0000 end", "x".repeat(secretLimits.valueMax)]) {
        await secrets.set("one", "A", text);
        expectSame(await secrets.get("one", "A"), text, "the value");
      }
    },
  },
  {
    id: "replaced",
    promise: "the last value counts, also for a handle that has read an earlier one",
    async run(make) {
      const { secrets, again } = await make();
      const other = await again();
      await secrets.set("one", "A", "first");
      expectSame(await other.get("one", "A"), "first", "the first value");
      await secrets.set("one", "A", "second");
      expectSame([await secrets.get("one", "A"), await other.get("one", "A")], ["second", "second"], "the second value");
    },
  },
  {
    id: "durable",
    promise: "another handle has the values and the names",
    async run(make) {
      const { secrets, again } = await make();
      await secrets.set("one", "A", value);
      await secrets.set("one", "B", "other");
      const later = await again();
      expectSame(
        [await later.get("one", "A"), await later.get("one", "B"), await later.names("one")],
        [value, "other", ["A", "B"]],
        "later",
      );
    },
  },
  {
    id: "names",
    promise: "the names of a scope are listed sorted, each once, and no value is among them",
    async run(make) {
      const { secrets } = await make();
      for (const name of ["b", "C", "a.1", "b"]) await secrets.set("one", name, value);
      await secrets.set("two", "z", value);
      expectSame(await secrets.names("one"), ["C", "a.1", "b"], "names");
    },
  },
  {
    id: "scopes",
    promise: "a name of another scope is absent, and scopes and names that would read alike in a row stay apart",
    async run(make) {
      const { secrets } = await make();
      await secrets.set("a", "b:c", "first");
      await secrets.set("a-b", "c", "second");
      const seen = [
        await secrets.get("a-b", "b:c"),
        await secrets.get("a", "c"),
        await secrets.get("a", "b:c"),
        await secrets.get("a-b", "c"),
      ];
      expectSame(seen, [undefined, undefined, "first", "second"], "values");
      expectSame(await secrets.remove("a-b", "b:c"), false, "what a removal in another scope found");
      expectSame([await secrets.names("a"), await secrets.names("a-b")], [["b:c"], ["c"]], "names");
    },
  },
  {
    id: "removed",
    promise: "a removed secret is gone for every handle, and the removal reports whether there was one",
    async run(make) {
      const { secrets, again } = await make();
      await secrets.set("one", "A", value);
      await secrets.set("one", "B", value);
      expectSame([await secrets.remove("one", "A"), await secrets.remove("one", "A")], [true, false], "removals");
      const later = await again();
      expectSame(
        [await secrets.get("one", "A"), await later.get("one", "A"), await later.names("one")],
        [undefined, undefined, ["B"]],
        "left",
      );
    },
  },
  {
    id: "at-once",
    promise: "of many secrets that are set at once none is lost",
    async run(make) {
      const { secrets, again } = await make();
      const other = await again();
      const names = Array.from({ length: 12 }, (_, at) => `N${String(at).padStart(2, "0")}`);
      await Promise.all(names.map((name, at) => (at % 2 ? other : secrets).set("one", name, `value of ${name}`)));
      expectSame(await (await again()).names("one"), names, "names");
      expectSame(await secrets.get("one", "N11"), "value of N11", "a value");
    },
  },
  {
    id: "refused",
    promise: "what is no name, no scope or no value is INPUT_INVALID, and nothing is stored",
    async run(make) {
      const { secrets } = await make();
      const wrong: readonly (() => Promise<unknown>)[] = [
        () => secrets.set("one", "", value),
        () => secrets.set("one", "../a", value),
        () => secrets.set("one", "a\nb", value),
        () => secrets.set("One Scope", "A", value),
        () => secrets.set("one", "A", ""),
        () => secrets.set("one", "A", "x".repeat(secretLimits.valueMax + 1)),
        () => secrets.get("", "A"),
        () => secrets.get("one", "a b"),
        () => secrets.remove("one", "x".repeat(129)),
        () => secrets.names("a/b"),
      ];
      for (const [at, call] of wrong.entries()) expectSame((await refusal(call)).code, "INPUT_INVALID", `wrong input ${at}`);
      expectSame(await secrets.names("one"), [], "what is stored");
    },
  },
  {
    id: "hidden",
    promise: "no error and no printed form of the store has a value",
    async run(make) {
      const { secrets } = await make();
      await secrets.set("one", "A", value);
      const { shown } = await refusal(() => secrets.set("one", "a b", value));
      const printed = [
        shown,
        String(secrets),
        JSON.stringify(secrets) ?? "",
        ...Object.values(secrets).map((member) => JSON.stringify(member) ?? ""),
      ];
      expectThat(!printed.some((text) => text.includes(value)), "a value was shown");
    },
  },
];
