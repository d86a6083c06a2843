import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { proveKit, runKit } from "@loopwright/testing";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type ConfigStore, createGuardrails, type GuardrailPolicy, inMemoryConfig, redisConfig, storedPolicy } from "../src/index.ts";
import { filePolicy, sqliteConfig } from "../src/node/index.ts";
import { configStoreKit } from "../src/testing/index.ts";
import { sessionWith } from "./harness.ts";
import { samples } from "./samples.ts";

const makers: Record<string, () => Promise<ConfigStore>> = {
  "the configuration in memory": async () => inMemoryConfig(),
  "the configuration on SQLite": async () => {
    const store = sqliteConfig({ path: ":memory:" });
    onTestFinished(() => store.close());
    return store;
  },
};
for (const [name, make] of Object.entries(makers)) describe(`${name} keeps its promises`, () => runKit(it, configStoreKit, { make }));

describe.skipIf(redisMissing())("the configuration on Redis", () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let client: ReturnType<typeof createClient>;
  let counter = 0;
  beforeAll(async () => {
    redis = await startRedis();
    client = createClient({ url: redis.url });
    client.on("error", () => {});
    await client.connect();
  });
  afterAll(async () => {
    client.destroy();
    await redis.stop();
  });
  const make = async (): Promise<ConfigStore> => redisConfig({ client, prefix: `test${++counter}` });

  describe("keeps its promises", () => runKit(it, configStoreKit, { make }));

  it("C58: gives the same decisions as the file with the same policy, and a change holds without a restart", async () => {
    await sameAsFile(await make());
  });
});

const spoiled = (spoil: (inner: ConfigStore) => Partial<ConfigStore>) => async (): Promise<ConfigStore> => {
  const inner = inMemoryConfig();
  return { ...inner, ...spoil(inner) };
};

describe("the kit of configuration stores", () => {
  proveKit(it, configStoreKit, [
    {
      defect: "trims what it keeps",
      breaks: ["whole"],
      make: spoiled(({ put }) => ({ put: (key, text, how) => put(key, text.trimEnd().replace("\u0000", ""), how) })),
    },
    {
      defect: "gives every text the same revision",
      breaks: ["revisions", "expected"],
      make: spoiled(({ get, put }) => ({
        get: async (key) => {
          const entry = await get(key);
          return entry && { ...entry, revision: "1" };
        },
        put: async (key, text) => (await put(key, text)) && "1",
      })),
    },
    {
      defect: "changes an entry without looking",
      breaks: ["expected"],
      make: spoiled(({ put }) => ({ put: (key, text) => put(key, text) })),
    },
    {
      defect: "keeps what is deleted",
      breaks: ["deleted"],
      make: spoiled(({ get }) => ({ delete: async (key) => (await get(key)) !== undefined })),
    },
    {
      defect: "cuts what is too long",
      breaks: ["bounds"],
      make: spoiled(({ put }) => ({ put: (key, text, how) => put(key.slice(0, 200) || "k", text.slice(0, 1_000_000), how) })),
    },
  ]);
});

const strict: GuardrailPolicy = {
  version: 1,
  secrets: { action: "block" },
  pii: { kinds: ["email"] },
  rules: [{ id: "tulip", pattern: "tulip", ignoreCase: true }],
};
const texts = ["nothing", `a ${samples["github"]}`, "write to anne@example.com", "A Tulip", "x@y"];

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-guardrails-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "guardrails.json");
  await writeFile(path, text);
  return path;
}

async function sameAsFile(store: ConfigStore): Promise<void> {
  const path = await fileWith(JSON.stringify(strict));
  await store.put("guardrails", JSON.stringify(strict));
  const clock = manualClock();
  const [file, stored] = [filePolicy(path), storedPolicy(store)].map((policy) => createGuardrails({ policy, clock }));
  const place = { gate: "output" } as const;
  for (const text of texts) expect(await stored?.check(text, place)).toEqual(await file?.check(text, place));
  expect(await stored?.check("a lily", place)).toEqual([]);
  const changed = JSON.stringify({ version: 1, rules: [{ id: "lily", pattern: "lily" }] });
  await store.put("guardrails", changed);
  await writeFile(path, changed);
  clock.advance(1_000);
  for (const one of [file, stored]) expect(await one?.check("a lily", place)).toMatchObject([{ rule: "lily" }]);
}

describe("the policy of a source", () => {
  it("C58: in SQLite gives the same decisions as the file with the same policy, and a change holds without a restart", async () => {
    const store = sqliteConfig({ path: ":memory:" });
    onTestFinished(() => store.close());
    await sameAsFile(store);
  });

  it("C58: that changes holds for the next run of a session that is open", async () => {
    const store = inMemoryConfig();
    const clock = manualClock();
    const hooks = [createGuardrails({ policy: storedPolicy(store), clock }).hooks];
    const one = sessionWith([{ text: "A tulip." }, { text: "A tulip." }], { hooks });
    expect((await one.say("One.")).text).toBe("A tulip.");
    await store.put("guardrails", JSON.stringify(strict));
    clock.advance(1_000);
    expect((await one.say("Two.")).text).toBe("A [redacted:tulip].");
    expect(one.logged.join()).toContain("have changed, and hold from now on");
  });

  it("that is broken later keeps the one before it, and reports that once", async () => {
    const path = await fileWith(JSON.stringify(strict));
    const clock = manualClock();
    const one = sessionWith(
      [1, 2, 3].map(() => ({ text: "A tulip." })),
      { hooks: [createGuardrails({ policy: filePolicy(path), clock }).hooks] },
    );
    await one.say("One.");
    await writeFile(path, '{"version": 1, "rulez": []}');
    for (const word of ["Two.", "Three."]) {
      clock.advance(1_000);
      expect((await one.say(word)).text).toBe("A [redacted:tulip].");
    }
    expect(one.logged.filter((line) => line.includes("were not taken"))).toHaveLength(1);
    expect(one.logged.join()).toContain("There is no option `rulez`");
  });

  it("that is broken from the beginning, or missing where it was named, stops every run, and nothing is recorded", async () => {
    const place = join(tmpdir(), "loopwright-there-is-none.json");
    for (const path of [await fileWith("{"), place]) {
      const guardrails = createGuardrails({ policy: filePolicy(path) });
      const error = await guardrails.policy().catch((thrown: unknown) => thrown);
      expect(isAgentError(error, "CONFIG_INVALID")).toBe(true);
      const one = sessionWith([{ text: "never" }], { hooks: [guardrails.hooks] });
      await expect(one.say("Go.")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      expect(await one.facts()).toEqual([]);
    }
    expect(await createGuardrails({ policy: filePolicy(place, { isOptional: true }) }).policy()).toEqual({ version: 1 });
  });
});
