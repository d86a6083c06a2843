import { describe, expect, test } from "vitest";
import { levelOfEnvironment, levelOfFlags } from "../config/config-level.ts";
import { configure } from "../config/configure.ts";
import type { RunFlags } from "./run-settings.ts";
import { runSettings } from "./run-settings.ts";

const long = "a-token-of-enough-characters";
const settings = (flags: RunFlags, environment: Record<string, string> = {}): ReturnType<typeof runSettings> =>
  runSettings(configure([levelOfFlags(flags), levelOfEnvironment(environment)]).values, {
    store: { kind: "sqlite", file: "/project/sessions.db" },
  });

describe("the flags of run", () => {
  test("C32, C42: mean this machine alone, the usual port or the next, and no wait at Ctrl+C", () => {
    expect(settings({})).toEqual({
      role: "all",
      listens: true,
      host: "127.0.0.1",
      port: 8080,
      isPortFixed: false,
      allowedHosts: [],
      retention: [],
      models: [],
      protocols: [],
      channels: {},
      token: undefined,
      auth: undefined,
      takesOwnKeys: false,
      assistantMode: undefined,
      isOpenToAll: false,
      patienceMs: { SIGINT: 0, SIGTERM: 30_000 },
    });
  });

  test("A61: the assistant mode comes from the flag or the variable, and another word is refused", () => {
    expect(settings({ assistantMode: "none" }).assistantMode).toBe("none");
    expect(settings({}, { LOOPWRIGHT_ASSISTANT_MODE: "side-panel" }).assistantMode).toBe("side-panel");
    expect(() => settings({ assistantMode: "window" })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  test("fix the port, the token and the patience when they name them", () => {
    expect(settings({ port: "0", token: long, models: "one, two,", shutdownTimeout: "1.5" })).toMatchObject({
      port: 0,
      isPortFixed: true,
      token: long,
      models: ["one", "two"],
      patienceMs: { SIGINT: 1_500, SIGTERM: 1_500 },
    });
  });

  test("C33: let other machines in with a token, or when open access is chosen", () => {
    expect(settings({ host: "0.0.0.0" }, { LOOPWRIGHT_TOKEN: long })).toMatchObject({ token: long, isOpenToAll: false });
    expect(settings({ host: "0.0.0.0", token: long, insecure: true })).toMatchObject({ token: long, isOpenToAll: false });
    expect(settings({ host: "::", insecure: true })).toMatchObject({ token: undefined, isOpenToAll: true });
    expect(settings({ host: "::1", insecure: true })).toMatchObject({ isOpenToAll: false });
  });

  test.each<[string, RunFlags, RegExp]>([
    ["a host that others reach without a token", { host: "0.0.0.0" }, /accepts connections from other machines/],
    ["a name that others reach without a token", { host: "example.org" }, /accepts connections from other machines/],
    ["a token that can be guessed", { token: "secret" }, /fewer than 16/],
    ["a token that no header can carry", { token: "with space" }, /no request can send/],
    ["a port that is no number", { port: "web" }, /`web` is no port/],
    ["a port below all", { port: "-1" }, /is no port/],
    ["a port above all", { port: "65536" }, /is no port/],
    ["a time that is none", { shutdownTimeout: "soon" }, /`soon` is no time/],
  ])("are refused for %s", (_, flags, message) => {
    expect(() => settings(flags)).toThrow(message);
  });

  test("never show the token in an error", () => {
    let written = "";
    try {
      settings({ token: "t\u00f6ken-very-secret" });
    } catch (error) {
      written = JSON.stringify([String(error), error]);
    }
    expect(written).toContain("no request can send");
    expect(written).not.toContain("very-secret");
  });
});

test("take keys of users where the flag or the variable asks for them", () => {
  expect([
    settings({ ownKeys: true }),
    settings({}, { LOOPWRIGHT_OWN_KEYS: "1" }),
    settings({}, { LOOPWRIGHT_OWN_KEYS: "0" }),
  ]).toMatchObject([...[{ takesOwnKeys: true }, { takesOwnKeys: true }, { takesOwnKeys: false }]]);
});
