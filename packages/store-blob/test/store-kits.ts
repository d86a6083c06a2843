import type { SessionStore } from "@loopwright/core/ports";
import {
  blobStoreKit,
  type Lack,
  type LogUnderTest,
  leaseKit,
  runKit,
  sessionIndexKit,
  sessionLogKit,
  snapshotStoreKit,
} from "@loopwright/testing";
import { afterEach, describe, it } from "vitest";

/** A fresh place: how to open a store on it, and what else a test can do to it. */
export interface KitPlace<Store extends SessionStore> {
  readonly open: () => Store;
  readonly more: (current: () => Store) => Partial<LogUnderTest>;
}

/** Runs every kit of stores. */
export function describeStoreKits<Store extends SessionStore>(make: () => Promise<KitPlace<Store>>, lacks: readonly Lack[]): void {
  const opened: SessionStore[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  const under = async <Kind extends "log" | "index" | "blobs">(kind: Kind) => {
    const { open, more } = await make();
    const openNow = (): Store => {
      const store = open();
      opened.push(store);
      return store;
    };
    let store = openNow();
    const reopen = async (): Promise<SessionStore[Kind]> => {
      await store.close();
      store = openNow();
      return store[kind];
    };
    const another = async (): Promise<SessionStore[Kind]> => openNow()[kind];
    return { log: store.log, index: store.index, blobs: store.blobs, snapshots: store.snapshots, ...more(() => store), reopen, another };
  };
  describe("session log", () => runKit(it, sessionLogKit, { make: () => under("log"), lacks }));
  describe("leases", () => runKit(it, leaseKit, { make: () => under("log"), lacks }));
  describe("session index", () => runKit(it, sessionIndexKit, { make: () => under("index"), lacks }));
  describe("blob store", () => runKit(it, blobStoreKit, { make: () => under("blobs"), lacks }));
  describe("snapshot store", () => runKit(it, snapshotStoreKit, { make: () => under("log"), lacks }));
}
