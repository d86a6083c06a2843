import { AgentError } from "@loopwright/core";
import { countedMemoryStore } from "@loopwright/core/internals";
import { manualClock, memoryStore } from "@loopwright/core/memory";
import { describe, it } from "vitest";
import { blobStoreKit } from "../src/blobs/blob-store-kit.ts";
import { eventChannelKit } from "../src/channel/event-channel-kit.ts";
import { sessionIndexKit } from "../src/index/session-index-kit.ts";
import { runKit } from "../src/kit/kit.ts";
import { leaseKit } from "../src/lease/lease-kit.ts";
import { sessionLogKit } from "../src/log/session-log-kit.ts";
import { snapshotStoreKit } from "../src/snapshots/snapshot-store-kit.ts";
import { memoryNodes } from "./channel/memory-nodes.ts";
import { faultyLog } from "./log/faulty-log.ts";

const lacks = [{ capability: "reopen", reason: "memory ends with the process" }];

describe("the adapters in memory keep every promise", () => {
  describe("session log", () => {
    const logLacks = [
      ...lacks,
      { capability: "corrupt", reason: "facts in memory are values, not bytes" },
      { capability: "tamper", reason: "facts in memory are values, not bytes" },
      { capability: "rollback", reason: "memory goes with its process" },
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
  describe("session index of a store without search", () =>
    runKit(it, sessionIndexKit, {
      lacks: [
        ...lacks,
        { capability: "ruin", reason: "facts in memory are values, not bytes" },
        { capability: "search", reason: "this one has none" },
      ],
      make: async () => {
        const { store, work } = countedMemoryStore();
        const search = async (): Promise<never> => {
          throw new AgentError("SEARCH_UNSUPPORTED", { message: "This store has no search." });
        };
        return { ...store, index: { ...store.index, search }, work: async () => work() };
      },
    }));
  describe("blob store", () => runKit(it, blobStoreKit, { lacks, make: async () => memoryStore() }));
  describe("snapshot store", () => runKit(it, snapshotStoreKit, { make: async () => memoryStore() }));
  describe("event channel", () => runKit(it, eventChannelKit, { make: async () => memoryNodes(2_000) }));
});
