import { describe, it } from "vitest";
import { blobSaboteurs } from "./blob-saboteurs.ts";
import { blobStoreKit } from "./blob-store-kit.ts";
import { channelSaboteurs } from "./channel-saboteurs.ts";
import { draftSaboteurs } from "./draft-saboteurs.ts";
import { draftStoreKit } from "./draft-store-kit.ts";
import { eventChannelKit } from "./event-channel-kit.ts";
import { listSaboteurs } from "./index-list-saboteurs.ts";
import { searchSaboteurs } from "./index-search-saboteurs.ts";
import { leaseKit } from "./lease-kit.ts";
import { leaseSaboteurs } from "./lease-saboteurs.ts";
import { fencingSaboteurs } from "./log-fencing-saboteurs.ts";
import { judgingSaboteurs } from "./log-judging-saboteurs.ts";
import { lifeSaboteurs } from "./log-life-saboteurs.ts";
import { writingSaboteurs } from "./log-writing-saboteurs.ts";
import { proveKit } from "./saboteur.ts";
import { sessionIndexKit } from "./session-index-kit.ts";
import { sessionLogKit } from "./session-log-kit.ts";

describe("session log kit", () =>
  proveKit(it, sessionLogKit, [...writingSaboteurs, ...judgingSaboteurs, ...fencingSaboteurs, ...lifeSaboteurs]));
describe("lease kit", () => proveKit(it, leaseKit, leaseSaboteurs));
describe("session index kit", () => proveKit(it, sessionIndexKit, [...listSaboteurs, ...searchSaboteurs]));
describe("blob store kit", () => proveKit(it, blobStoreKit, blobSaboteurs));
describe("draft store kit", () => proveKit(it, draftStoreKit, draftSaboteurs));
describe("event channel kit", () => proveKit(it, eventChannelKit, channelSaboteurs));
