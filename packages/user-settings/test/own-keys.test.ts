import { memorySecrets } from "@loopwright/core/memory";
import type { SecretStore } from "@loopwright/core/ports";
import { createSecrets, masterKeyOf, masterKeys, memoryStorage, newMasterKey } from "@loopwright/secrets";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryRecords } from "../src/index.ts";
import { guardedTransport } from "../src/node/index.ts";
import { anne, ben, deployment, type FakeVendor, fakeVendor, platformKey, refuseKey, sayOk } from "./deployment.ts";

let vendor: FakeVendor;
beforeEach(async () => {
  vendor = await fakeVendor();
});
afterEach(() => vendor.close());

const key = "sk-ANNE-0123456789abcdef";
const mine = { providerId: "vendor", model: "small", displayName: "My own", key };
const delegated = (secrets: SecretStore): SecretStore => ({
  get: (...at) => secrets.get(...at),
  set: (...at) => secrets.set(...at),
  remove: (...at) => secrets.remove(...at),
  names: (...at) => secrets.names(...at),
});
const bearers = () => vendor.calls.map(({ authorization }) => authorization);

describe("the key of a call", () => {
  it("A53: is the platform's for every user under PlatformOnly, and the settings show one locked entry", async () => {
    const { ask, call } = deployment(vendor, { mode: "PlatformOnly" });
    await ask(anne);
    await ask(ben);
    expect(bearers()).toEqual([`Bearer ${platformKey}`, `Bearer ${platformKey}`]);
    const list = await call("anne", "GET", "/api/ai/providers");
    expect(list.json).toEqual({
      mode: "PlatformOnly",
      builders: [],
      providers: [expect.objectContaining({ locked: true, displayName: "Provided by this deployment" })],
    });
    for (const [method, path, body] of [
      ["POST", "", mine],
      ["PATCH", "/_platform", { displayName: "x" }],
      ["DELETE", "/_platform"],
      ["POST", "/_platform/test"],
    ] as const)
      expect((await call("anne", method, `/api/ai/providers${path}`, body)).status).toBe(403);
  });

  it("A54: is the user's where the user brought one, the platform's for all others, and its owner is in the facts", async () => {
    const { ask, settings } = deployment(vendor);
    await settings.create(anne, mine);
    const [own, other, elsewhere] = [await ask(anne), await ask(ben), await ask({ user: "anne", scope: "other" })];
    expect([own, other, elsewhere].map(({ result }) => result.text)).toEqual(["ok", "ok", "ok"]);
    expect(bearers()).toEqual([`Bearer ${key}`, `Bearer ${platformKey}`, `Bearer ${platformKey}`]);
    expect(vendor.calls.map(({ model }) => model)).toEqual(["small", "large", "large"]);
    const owners = [own, other].map(({ facts }) =>
      facts.flatMap((fact) => (fact.type === "model.started" ? [[fact.keyOwner, fact.model]] : [])),
    );
    expect(owners).toEqual([[["user", "small"]], [["platform", "large"]]]);
  });

  it("A54: is the new one from the next call after it was changed, with no restart, and the platform's after the instance was deleted", async () => {
    const { ask, settings, secrets } = deployment(vendor);
    const { instanceId } = await settings.create(anne, mine);
    await ask(anne);
    await settings.change(anne, instanceId, { key: "sk-ANNE-second" });
    await ask(anne);
    await settings.remove(anne, instanceId);
    await ask(anne);
    expect(bearers()).toEqual([`Bearer ${key}`, "Bearer sk-ANNE-second", `Bearer ${platformKey}`]);
    expect(await secrets.names("team")).toEqual([]);
  });

  it("A54: is that of the active instance; with none active it is the platform's", async () => {
    const { ask, settings } = deployment(vendor);
    const first = await settings.create(anne, mine);
    const second = await settings.create(anne, { ...mine, key: "sk-second", displayName: "Second" });
    expect([first.active, second.active]).toEqual([true, false]);
    await ask(anne);
    await settings.change(anne, second.instanceId, { active: true });
    await ask(anne);
    expect((await settings.list(anne)).providers.map(({ active }) => active)).toEqual([false, true]);
    await settings.change(anne, second.instanceId, { active: false });
    await ask(anne);
    expect(bearers()).toEqual([`Bearer ${key}`, "Bearer sk-second", `Bearer ${platformKey}`]);
  });

  it("A54: is never the platform's where the user's own fails: refused by the vendor, unreadable or gone", async () => {
    const storage = memoryStorage();
    const keys = masterKeys(await masterKeyOf(newMasterKey()));
    const secrets = createSecrets({ storage, keys });
    const { ask, settings, runtime } = deployment(vendor, { secrets });
    const { instanceId } = await settings.create(anne, mine);
    vendor.answer = refuseKey;
    expect((await ask(anne)).result.error?.code).toBe("MODEL_AUTH");
    vendor.answer = sayOk;
    const [name = ""] = await secrets.names("team");
    const { head } = await storage.read("team", name);
    if (!head) throw new Error("Nothing is stored.");
    await storage.write("team", { expected: head.revision, head, record: { name, bytes: new Uint8Array(60) } });
    const unreadable = await ask(anne);
    expect(unreadable.result.error).toMatchObject({ code: "OWN_KEY_UNUSABLE", message: expect.stringContaining("My own") });
    await secrets.remove("team", name);
    expect((await ask(anne)).result.error?.code).toBe("OWN_KEY_UNUSABLE");
    expect(bearers()).toEqual([`Bearer ${key}`]);
    expect((await ask(ben)).result.text).toBe("ok");
    // A new key heals it.
    await settings.change(anne, instanceId, { key });
    expect((await ask(anne)).result.text).toBe("ok");
    await runtime.close();
  });

  it("stops no call of the platform and of other users when it is broken", async () => {
    const { ask, settings } = deployment(vendor);
    await settings.create(anne, mine);
    await settings.create(ben, { ...mine, key: "sk-BEN" });
    vendor.answer = (call, response) =>
      call.authorization === `Bearer ${key}` ? void response.writeHead(503).end() : sayOk(call, response);
    for (let at = 0; at < 5; at++) expect((await ask(anne)).result.error?.code).toBe("MODEL_OVERLOADED");
    expect((await ask(anne)).result.error?.code).toBe("MODEL_CIRCUIT_OPEN");
    expect((await ask(ben)).result.text).toBe("ok");
    expect((await ask({ user: "carl", scope: "team" })).result.text).toBe("ok");
  });
});

describe("a saved instance", () => {
  it("A55: is refused where its vendor is not registered, and has a reference to the key in the place of the key", async () => {
    const records = memoryRecords();
    const { call } = deployment(vendor, { records });
    const refused = await call("anne", "POST", "/api/ai/providers", { ...mine, providerId: "unheard-of" });
    expect([refused.status, refused.json.code, refused.json.fix]).toEqual([400, "INPUT_INVALID", "Take one of: vendor, fixed, custom."]);
    for (const providerId of ["__proto__", "constructor", "toString"])
      expect((await call("anne", "POST", "/api/ai/providers", { ...mine, providerId })).status).toBe(400);
    const made = await call("anne", "POST", "/api/ai/providers", mine);
    expect(made.status).toBe(201);
    const [stored] = await records.list(anne, "provider");
    expect(stored?.value).toEqual({
      instanceId: made.json.instanceId,
      providerId: "vendor",
      model: "small",
      displayName: "My own",
      secretKeyRef: `ai-provider.${made.json.instanceId}`,
    });
  });

  it("A56, K06: is added, listed, read, changed, tested and deleted over HTTP; without an assistant there are no such routes", async () => {
    const { call } = deployment(vendor);
    const { json: made } = await call("anne", "POST", "/api/ai/providers", mine);
    const path = `/api/ai/providers/${made.instanceId}`;
    expect((await call("anne", "GET", path)).json).toEqual({
      ...{ instanceId: made.instanceId, providerId: "vendor", model: "small", displayName: "My own", active: true, hasKey: true },
      revision: expect.any(String),
    });
    expect((await call("anne", "PATCH", path, { displayName: "Renamed", model: "medium" })).json).toMatchObject({
      displayName: "Renamed",
      model: "medium",
    });
    expect((await call("anne", "POST", `${path}/test`)).json).toMatchObject({ ok: true, model: "medium" });
    const list = (await call("anne", "GET", "/api/ai/providers")).json;
    expect(list.providers).toHaveLength(1);
    expect(list.builders.map(({ providerId, baseUrl }) => [providerId, baseUrl])).toEqual([
      ["vendor", "optional"],
      ["fixed", "refused"],
      ["custom", "required"],
    ]);
    expect([(await call("anne", "DELETE", path)).status, (await call("anne", "DELETE", path)).status]).toEqual([204, 404]);
    const { providerRoutes } = await import("../src/index.ts");
    expect(providerRoutes(deployment(vendor).settings, { assistantMode: "none" })).toEqual([]);
  });

  it("A56: takes changes of several requests at once field by field, and refuses one whose sender has read an older revision", async () => {
    const { call, settings } = deployment(vendor);
    const { json: made } = await call("anne", "POST", "/api/ai/providers", mine);
    const path = `/api/ai/providers/${made.instanceId}`;
    const both = [
      settings.change(anne, made.instanceId, { displayName: "Renamed" }),
      settings.change(anne, made.instanceId, { model: "medium" }),
    ];
    await Promise.all(both);
    expect((await call("anne", "GET", path)).json).toMatchObject({ displayName: "Renamed", model: "medium" });
    const late = await call("anne", "PATCH", path, { displayName: "Late", revision: made.revision });
    expect([late.status, late.json.code, late.json.retryable]).toEqual([409, "STORE_CONFLICT", false]);
    const { revision } = (await call("anne", "GET", path)).json;
    expect((await call("anne", "PATCH", path, { displayName: "In time", revision })).json.displayName).toBe("In time");
  });

  it("A54: keeps a new key from an address that another request puts while it is stored, and leaves no key behind", async () => {
    const honest = memorySecrets();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const secrets: SecretStore = {
      ...delegated(honest),
      async set(...secret) {
        await honest.set(...secret);
        const act = meanwhile;
        meanwhile = undefined;
        await act?.();
      },
    };
    const { settings } = deployment(vendor, { secrets, allowsPrivate: true });
    const { instanceId } = await settings.create(anne, { ...mine, providerId: "custom", baseUrl: vendor.url });
    meanwhile = () => settings.change(anne, instanceId, { baseUrl: `${vendor.url}/other`, key: "sk-other" });
    await expect(settings.change(anne, instanceId, { key: "sk-mine" })).rejects.toMatchObject({ code: "STORE_CONFLICT" });
    const [name = "", ...more] = await honest.names("team");
    expect([await honest.get("team", name), more]).toEqual(["sk-other", []]);
  });

  it("A57: leaves no key behind wherever adding, changing or removing it is cut off, once it is removed", async () => {
    for (let cut = 1; cut < 30; cut++) {
      let steps = 0;
      const step = async <T>(work: () => Promise<T>): Promise<T> => {
        if (++steps === cut) throw new Error("The process ends.");
        if (steps > cut) return new Promise<T>(() => {});
        return work();
      };
      const [secrets, records] = [memorySecrets(), memoryRecords()];
      const cutOff = deployment(vendor, {
        secrets: {
          ...delegated(secrets),
          set: (...at) => step(() => secrets.set(...at)),
          remove: (...at) => step(() => secrets.remove(...at)),
        },
        records: { ...records, put: (...at) => step(() => records.put(...at)), remove: (...at) => step(() => records.remove(...at)) },
      });
      const ended = (async () => {
        const { instanceId } = await cutOff.settings.create(anne, mine);
        await cutOff.settings.change(anne, instanceId, { key: "sk-second" });
        await cutOff.settings.remove(anne, instanceId);
        return "whole";
      })().catch(() => "cut off");
      const outcome = await Promise.race([ended, new Promise<string>((resolve) => setImmediate(resolve, "cut off"))]);
      // Another process: the user removes what is listed.
      const { settings } = deployment(vendor, { secrets, records });
      for (const { instanceId } of (await settings.list(anne)).providers) await settings.remove(anne, instanceId);
      expect([cut, await secrets.names("team")]).toEqual([cut, []]);
      if (outcome === "whole") return expect(cut).toBeGreaterThan(8);
    }
    expect.fail("It was never whole.");
  });

  it("A54: is not blamed on its key where the host of its address is not found for a moment", async () => {
    let isKnown = true;
    const resolve = async () => (isKnown ? ["127.0.0.1"] : Promise.reject(new Error("EAI_AGAIN")));
    const origin = vendor.url.replace("127.0.0.1", "models.test");
    const transport = guardedTransport({ policy: { privateOrigins: [new URL(origin).origin] }, resolve });
    const { settings, ask } = deployment(vendor, { transport });
    const { instanceId } = await settings.create(anne, { ...mine, providerId: "custom", baseUrl: origin });
    isKnown = false;
    expect((await ask(anne)).result.error?.code).toBe("MODEL_UNREACHABLE");
    expect(await settings.test(anne, instanceId)).toMatchObject({ ok: false, code: "MODEL_UNREACHABLE" });
    isKnown = true;
    expect((await ask(anne)).result.text).toBe("ok");
  });

  it("is another user's secret: foreign and absent look the same", async () => {
    const { call } = deployment(vendor);
    const { json: made } = await call("anne", "POST", "/api/ai/providers", mine);
    for (const user of ["ben", "anne@other"])
      for (const [method, path, body] of [
        ["GET", ""],
        ["PATCH", "", { displayName: "x" }],
        ["DELETE", ""],
        ["POST", "/test"],
      ] as const) {
        const foreign = await call(user, method, `/api/ai/providers/${made.instanceId}${path}`, body);
        const absent = await call(user, method, `/api/ai/providers/${made.instanceId.replace(/.$/, "_")}${path}`, body);
        expect([foreign.status, absent.status]).toEqual([404, 404]);
        expect(foreign.json.code).toBe(absent.json.code);
      }
    expect((await call("ben", "GET", "/api/ai/providers")).json.providers).toEqual([]);
    expect((await call("", "GET", "/api/ai/providers")).status).toBe(401);
  });

  it("is refused with the field that is wrong, and never with its value", async () => {
    const { call } = deployment(vendor);
    const wrong: readonly (readonly [string, unknown])[] = [
      ["key", { ...mine, key: "sk canary with spaces" }],
      ["key", { ...mine, key: 7 }],
      ["key", { ...mine, key: "" }],
      ["model", { ...mine, model: "" }],
      ["displayName", { ...mine, displayName: "a\nb" }],
      ["secretKeyRef", { ...mine, secretKeyRef: "OPENAI_API_KEY" }],
      ["body", []],
    ];
    for (const [field, body] of wrong) {
      const refused = await call("anne", "POST", "/api/ai/providers", body);
      expect([refused.status, refused.json.code]).toEqual([400, "INPUT_INVALID"]);
      expect(refused.text).toContain(field);
      expect(refused.text).not.toContain("canary");
    }
  });
});

describe("the test of an instance", () => {
  it("gives a typed result: the vendor's refusal without the key, no call for a key that cannot be used", async () => {
    const { call, secrets } = deployment(vendor);
    const { json: made } = await call("anne", "POST", "/api/ai/providers", mine);
    const test = async () => (await call("anne", "POST", `/api/ai/providers/${made.instanceId}/test`)).json;
    vendor.answer = refuseKey;
    const refused = await test();
    expect(refused).toMatchObject({ ok: false, code: "MODEL_AUTH", message: expect.any(String), fix: expect.any(String) });
    expect(JSON.stringify(refused)).not.toContain(key.slice(0, 12));
    vendor.answer = (_, response) => void response.destroy();
    expect(await test()).toMatchObject({ ok: false, code: "MODEL_UNREACHABLE" });
    await secrets.remove("team", `ai-provider.${made.instanceId}`);
    const asked = vendor.calls.length;
    expect(await test()).toMatchObject({ ok: false, code: "OWN_KEY_UNUSABLE" });
    expect(vendor.calls).toHaveLength(asked);
  });
});

describe("an address that a user names", () => {
  it("K07: is refused unless it is on the public web, and the platform's key is never sent to it", async () => {
    const { call, ask } = deployment(vendor);
    for (const baseUrl of [
      "http://169.254.169.254/v1",
      "http://127.0.0.1:8080/v1",
      "http://2130706433/",
      "http://[::1]/",
      "http://localhost/v1",
      "http://10.0.0.1/v1",
      "file:///etc/passwd",
      "https://user:pw@models.example/v1",
      "not a url",
      vendor.url,
    ]) {
      const refused = await call("anne", "POST", "/api/ai/providers", { ...mine, providerId: "custom", baseUrl });
      expect([baseUrl, refused.status]).toEqual([baseUrl, 400]);
    }
    expect((await call("anne", "POST", "/api/ai/providers", { ...mine, providerId: "custom" })).status).toBe(400);
    expect(
      (await call("anne", "POST", "/api/ai/providers", { ...mine, providerId: "fixed", baseUrl: "https://models.example/v1" })).status,
    ).toBe(400);
    await ask(anne);
    expect(bearers()).toEqual([`Bearer ${platformKey}`]);
  });

  it("K06, K07: gets the user's key alone, needs the key again when it changes, and no redirect is followed", async () => {
    const { call, ask, settings } = deployment(vendor, { allowsPrivate: true });
    const made = await settings.create(anne, { ...mine, providerId: "custom", baseUrl: vendor.url });
    expect(made.baseUrl).toBe(vendor.url);
    expect((await ask(anne)).result.text).toBe("ok");
    const moved = await call("anne", "PATCH", `/api/ai/providers/${made.instanceId}`, { baseUrl: `${vendor.url}/elsewhere` });
    expect([moved.status, moved.json.code]).toEqual([400, "INPUT_INVALID"]);
    expect(
      (await call("anne", "PATCH", `/api/ai/providers/${made.instanceId}`, { baseUrl: `${vendor.url}/elsewhere`, key: "sk-again" })).status,
    ).toBe(200);
    vendor.answer = ({ path }, response) => {
      if (path?.startsWith("/stolen")) response.end();
      else response.writeHead(307, { location: vendor.url.replace("/v1", "/stolen") }).end();
    };
    expect((await ask(anne)).result.error?.code).toBe("MODEL_REDIRECTED");
    expect(bearers()).toEqual([`Bearer ${key}`, "Bearer sk-again"]);
    expect(vendor.calls.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/elsewhere/chat/completions"]);
  });
});
