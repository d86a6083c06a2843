import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blobStoreKit } from "../src/blobs/blob-store-kit.ts";
import { eventChannelKit } from "../src/channel/event-channel-kit.ts";
import { sessionIndexKit } from "../src/index/session-index-kit.ts";
import { proveKit } from "../src/kit/saboteur.ts";
import { leaseKit } from "../src/lease/lease-kit.ts";
import { sessionLogKit } from "../src/log/session-log-kit.ts";
import { snapshotStoreKit } from "../src/snapshots/snapshot-store-kit.ts";
import { blobSaboteurs } from "./blobs/blob-saboteurs.ts";
import { channelSaboteurs } from "./channel/channel-saboteurs.ts";
import { channelLossSaboteurs } from "./channel/loss-saboteurs.ts";
import { channelNodeSaboteurs } from "./channel/node-saboteurs.ts";
import { channelScopeSaboteurs } from "./channel/scope-saboteurs.ts";
import { listSaboteurs } from "./index/list-saboteurs.ts";
import { ruinedIndexSaboteurs } from "./index/ruin-saboteurs.ts";
import { searchSaboteurs } from "./index/search-saboteurs.ts";
import { indexWorkSaboteurs } from "./index/work-saboteurs.ts";
import { leaseSaboteurs } from "./lease/lease-saboteurs.ts";
import { contentSaboteurs } from "./log/content-saboteurs.ts";
import { dueSaboteurs } from "./log/due-saboteurs.ts";
import { faultSaboteurs } from "./log/fault-saboteurs.ts";
import { fencingSaboteurs } from "./log/fencing-saboteurs.ts";
import { judgingSaboteurs } from "./log/judging-saboteurs.ts";
import { lifeSaboteurs } from "./log/life-saboteurs.ts";
import { notifyingSaboteurs } from "./log/notifying-saboteurs.ts";
import { brokenOverTwo, leaseOverTwoSaboteurs, logOverTwoSaboteurs } from "./log/over-two-saboteurs.ts";
import { rollbackSaboteurs } from "./log/rollback-saboteurs.ts";
import { ruinSaboteurs } from "./log/ruin-saboteurs.ts";
import { tamperSaboteurs } from "./log/tamper-saboteurs.ts";
import { workSaboteurs } from "./log/work-saboteurs.ts";
import { writingSaboteurs } from "./log/writing-saboteurs.ts";
import { snapshotSaboteurs } from "./snapshots/snapshot-saboteurs.ts";

describe("session log kit", () =>
  proveKit(it, sessionLogKit, [
    ...brokenOverTwo(sessionLogKit, [
      ...[...writingSaboteurs, ...contentSaboteurs, ...judgingSaboteurs, ...fencingSaboteurs],
      ...[...lifeSaboteurs, ...notifyingSaboteurs, ...dueSaboteurs, ...faultSaboteurs, ...ruinSaboteurs, ...workSaboteurs],
      ...[...tamperSaboteurs, ...rollbackSaboteurs],
    ]),
    ...logOverTwoSaboteurs,
  ]));
it("the kit of session logs has the documented number of cases", () => {
  const text = readFileSync(new URL("../src/log/session-log-kit.ts", import.meta.url), "utf8");
  expect(text).toContain(`${sessionLogKit.length} cases here and ${leaseKit.length} in \`leaseKit\``);
});
describe("lease kit", () => proveKit(it, leaseKit, [...brokenOverTwo(leaseKit, leaseSaboteurs), ...leaseOverTwoSaboteurs]));
describe("session index kit", () =>
  proveKit(it, sessionIndexKit, [...listSaboteurs, ...searchSaboteurs, ...ruinedIndexSaboteurs, ...indexWorkSaboteurs]));
describe("blob store kit", () => proveKit(it, blobStoreKit, blobSaboteurs));
describe("snapshot store kit", () => proveKit(it, snapshotStoreKit, snapshotSaboteurs));
describe("event channel kit", () =>
  proveKit(it, eventChannelKit, [...channelSaboteurs, ...channelScopeSaboteurs, ...channelNodeSaboteurs, ...channelLossSaboteurs]));
