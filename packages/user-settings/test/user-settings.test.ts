import type { JsonObject } from "@loopwright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryRecords, settingsRoutes, userSettings } from "../src/index.ts";
import { anne, ben, deployment, type FakeVendor, fakeVendor } from "./deployment.ts";

let vendor: FakeVendor;
beforeEach(async () => {
  vendor = await fakeVendor();
});
afterEach(() => vendor.close());

describe("the settings of a user", () => {
  it("B107: have a plan that the operator sets, and personalization, memory and a rule that the user sets, each user's apart", async () => {
    const { call, preferences } = deployment(vendor);
    expect((await call("anne", "GET", "/api/settings")).json).toEqual({
      plan: "default",
      personalization: { enabled: false, text: "" },
      memory: { enabled: true },
    });
    await preferences.setPlan(anne, "pro");
    const changed = await call("anne", "PATCH", "/api/settings", {
      personalization: { enabled: true, text: "Be brief." },
      projectRule: "Use metres.",
    });
    const wanted = {
      plan: "pro",
      personalization: { enabled: true, text: "Be brief." },
      memory: { enabled: true },
      projectRule: "Use metres.",
    };
    expect([changed.status, changed.json]).toEqual([200, wanted]);
    expect(await preferences.settingsOf(anne)).toEqual(wanted);
    expect(await preferences.settingsOf(ben)).toMatchObject({ plan: "default", personalization: { enabled: false } });
    expect((await call("anne", "PATCH", "/api/settings", { memory: { enabled: false }, projectRule: null })).json).toEqual({
      ...{ plan: "pro", personalization: { enabled: true, text: "Be brief." }, memory: { enabled: false } },
    });
    expect((await call("anne@other", "GET", "/api/settings")).json.plan).toBe("default");
  });

  it("B107: are refused with the field that is wrong; the plan is not the user's to set", async () => {
    const { call, preferences } = deployment(vendor);
    expect((await call("anne", "PATCH", "/api/settings", { plan: "pro" })).status).toBe(403);
    for (const body of [
      { memory: true },
      { personalization: { enabled: true } },
      { theme: "dark" },
      { projectRule: "x".repeat(5_000) },
      7,
      null,
    ])
      expect((await call("anne", "PATCH", "/api/settings", body)).status).toBe(400);
    await expect(preferences.setPlan(anne, "a plan")).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect((await preferences.settingsOf(anne)).plan).toBe("default");
    expect((await call("", "GET", "/api/settings")).status).toBe(401);
  });

  it("B107: the plan of a user of the scope is read and set by those that may, and nowhere without a rule", async () => {
    const preferences = userSettings({ records: memoryRecords() });
    expect(settingsRoutes(preferences).map(({ id }) => id)).toEqual(["readSettings", "changeSettings"]);
    const routes = settingsRoutes(preferences, { maySetPlan: ({ roles = [] }) => roles.includes("admin") });
    const ask = async (id: string, roles: readonly string[], body?: JsonObject): Promise<unknown> => {
      const route = routes.find((one) => one.id === id);
      const principal = { user: "root", scope: anne.scope, roles };
      const query = new URLSearchParams({ user: anne.user });
      return (await route?.handle({ principal, params: {}, query, body, signal: AbortSignal.timeout(5_000) }))?.json();
    };
    const wanted = { user: anne.user, plan: "pro" };
    expect(await ask("readPlan", ["admin"])).toEqual({ user: anne.user, plan: "default" });
    expect(await ask("setPlan", ["admin"], wanted)).toEqual(wanted);
    expect(await ask("readPlan", ["admin"])).toEqual(wanted);
    for (const id of ["readPlan", "setPlan"]) await expect(ask(id, [], wanted)).rejects.toMatchObject({ code: "FORBIDDEN" });
    for (const body of [{ user: anne.user }, { ...wanted, plan: "a plan" }, { ...wanted, scope: "other" }])
      await expect(ask("setPlan", ["admin"], body)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect((await preferences.settingsOf({ ...anne, scope: "other" })).plan).toBe("default");
  });

  it("B107: are read where a later version has stored more, which stays when they are changed", async () => {
    const { preferences, records } = deployment(vendor);
    const later = { personalization: { enabled: true, text: "Be brief.", tone: "dry" }, memory: "all", theme: { dark: true } };
    await records.put(anne, "settings", { id: "own", value: later });
    expect(await preferences.settingsOf(anne)).toEqual({
      ...{ plan: "default", personalization: { enabled: true, text: "Be brief." }, memory: { enabled: true } },
    });
    await preferences.change(anne, { personalization: { enabled: false, text: "" }, projectRule: "Use metres." });
    expect((await records.get(anne, "settings", "own"))?.value).toEqual({
      ...{ ...later, personalization: { enabled: false, text: "", tone: "dry" }, projectRule: "Use metres." },
    });
  });

  it("B107: of several requests at once all count", async () => {
    const { preferences } = deployment(vendor);
    await Promise.all([
      preferences.change(anne, { memory: { enabled: false } }),
      preferences.change(anne, { projectRule: "Use metres." }),
      preferences.change(anne, { personalization: { enabled: true, text: "Be brief." } }),
    ]);
    expect(await preferences.settingsOf(anne)).toMatchObject({
      ...{ memory: { enabled: false }, projectRule: "Use metres.", personalization: { enabled: true } },
    });
  });
});
