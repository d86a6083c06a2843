import { describe, it } from "vitest";
import { memoryChannel, memoryStore } from "../memory/index.ts";
import { blobStoreKit } from "./blob-store-kit.ts";
import { draftStoreKit } from "./draft-store-kit.ts";
import { eventChannelKit } from "./event-channel-kit.ts";
import { runKit } from "./kit.ts";
import { leaseKit } from "./lease-kit.ts";
import { manualClock } from "./manual-clock.ts";
import { sessionIndexKit } from "./session-index-kit.ts";
import { sessionLogKit } from "./session-log-kit.ts";

const lacks = [{ capability: "reopen", reason: "memory ends with the process" }];

describe("the adapters in memory keep every promise", () => {
  describe("session log", () => runKit(it, sessionLogKit, { lacks, make: async () => memoryStore() }));
  describe("leases", () =>
    runKit(it, leaseKit, {
      lacks,
      make: async () => {
        const clock = manualClock();
        return { log: memoryStore({ clock }).log, advance: (ms) => clock.advance(ms) };
      },
    }));
  describe("session index", () => runKit(it, sessionIndexKit, { lacks, make: async () => memoryStore() }));
  describe("blob store", () => runKit(it, blobStoreKit, { lacks, make: async () => memoryStore() }));
  describe("draft store", () => runKit(it, draftStoreKit, { make: async () => memoryStore() }));
  describe("event channel", () => runKit(it, eventChannelKit, { make: async () => ({ channel: memoryChannel() }) }));
});
