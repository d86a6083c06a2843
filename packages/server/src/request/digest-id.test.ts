import { expect, it } from "vitest";
import { digestId } from "./digest-id.ts";

it("gives the same id for the same texts in every version, as sessions are found by it, and another one for other texts", async () => {
  expect(await digestId("anne", "helper", "chat")).toBe("44b770ca45753e7bd01e1840dc9a0741");
  expect(await digestId("anne", "helperchat")).not.toBe(await digestId("annehelper", "chat"));
  expect(await digestId('anne","helper')).not.toBe(await digestId("anne", "helper"));
});
