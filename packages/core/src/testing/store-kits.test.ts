import { describe, it } from "vitest";
import { memoryStore } from "../memory/index.ts";
import { countedMemoryStore } from "../memory/memory-store.ts";
import { blobStoreKit } from "./blob-store-kit.ts";
import { draftStoreKit } from "./draft-store-kit.ts";
import { eventChannelKit } from "./event-channel-kit.ts";
import { faultyLog } from "./faulty-log.ts";
import { runKit } from "./kit.ts";
import { leaseKit } from "./lease-kit.ts";
import { manualClock } from "./manual-clock.ts";
import { memoryNodes } from "./memory-nodes.ts";
import { sessionIndexKit } from "./session-index-kit.ts";
import { sessionLogKit } from "./session-log-kit.ts";

const lacks = [{ capability: "reopen", reason: "memory ends with the process" }];

describe("the adapters in memory keep every promise", () => {
  describe("session log", () => {
    const logLacks = [
      ...lacks,
      { capability: "corrupt", reason: "facts in memory are values, not bytes" },
      { capability: "ruin", reason: "facts in memory are values, not bytes" },
      { capability: "full", reason: "memory has no bound of its own" },
      { capability: "unknown", reason: "a call in this process is always answered" },
    ];
    runKit(it, sessionLogKit, {
      lacks: logLacks,
      make: async () => {
        const clock = manualClock();
        const { store, work } = countedMemoryStore({ clock });
        return { log: store.log, advance: (ms) => clock.advance(ms), another: async () => store.log, work: async () => work() };
      },
    });
  });
  describe("session log with faults", () => runKit(it, sessionLogKit, { make: async () => faultyLog() }));
  describe("leases", () =>
    runKit(it, leaseKit, {
      lacks,
      make: async () => {
        const clock = manualClock();
        const { log } = memoryStore({ clock });
        return { log, advance: (ms) => clock.advance(ms), another: async () => log };
      },
    }));
  describe("session index", () =>
    runKit(it, sessionIndexKit, {
      lacks: [...lacks, { capability: "ruin", reason: "facts in memory are values, not bytes" }],
      make: async () => {
        const { store, work } = countedMemoryStore({ searchSessionsMax: 20 });
        return { ...store, work: async () => work() };
      },
    }));
  describe("blob store", () => runKit(it, blobStoreKit, { lacks, make: async () => memoryStore() }));
  describe("draft store", () => runKit(it, draftStoreKit, { make: async () => memoryStore() }));
  describe("event channel", () => runKit(it, eventChannelKit, { make: async () => memoryNodes() }));
});
