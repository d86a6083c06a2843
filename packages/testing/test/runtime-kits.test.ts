import { consoleLogger, randomIds, systemClock } from "@loopwright/core/memory";
import { afterEach, beforeEach, describe, it, type MockInstance, vi } from "vitest";
import { authenticatorKit } from "../src/authenticator/authenticator-kit.ts";
import { chatSurfaceKit } from "../src/chat/chat-surface-kit.ts";
import { clockKit } from "../src/clock/clock-kit.ts";
import { tokenCounterKit } from "../src/counter/token-counter-kit.ts";
import { embedderKit } from "../src/embedder/embedder-kit.ts";
import { executorKit } from "../src/executor/executor-kit.ts";
import { idSourceKit } from "../src/ids/id-source-kit.ts";
import { imageGeneratorKit } from "../src/image/image-generator-kit.ts";
import { runKit } from "../src/kit/kit.ts";
import { usageLedgerKit } from "../src/ledger/usage-ledger-kit.ts";
import { loggerKit } from "../src/logger/logger-kit.ts";
import { priceTableKit } from "../src/prices/price-table-kit.ts";
import { secretStoreKit } from "../src/secrets/secret-store-kit.ts";
import { makeHonestAuthenticator } from "./authenticator/authenticator-saboteurs.ts";
import { makeMemorySurface } from "./chat/chat-surface-saboteurs.ts";
import { makeManualClock } from "./clock/clock-saboteurs.ts";
import { makeCharacterCounter } from "./counter/token-counter-saboteurs.ts";
import { makeLetterEmbedder } from "./embedder/embedder-saboteurs.ts";
import { scriptedExecutor } from "./executor/scripted-executor.ts";
import { makeSeededIds } from "./ids/id-source-saboteurs.ts";
import { makePixelGenerator } from "./image/image-generator-saboteurs.ts";
import { makeMemoryLedger } from "./ledger/usage-ledger-saboteurs.ts";
import { makeFixedPrices } from "./prices/price-table-saboteurs.ts";
import { makeMemorySecrets } from "./secrets/secret-store-saboteurs.ts";

/** The platform's own time, advanced by hand: no test waits. */
const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

describe("an authenticator that asks a service keeps every promise", () => runKit(it, authenticatorKit, { make: makeHonestAuthenticator }));
describe("prices written by hand keep every promise", () => runKit(it, priceTableKit, { make: makeFixedPrices }));
describe("the ledger in memory keeps every promise", () => runKit(it, usageLedgerKit, { make: makeMemoryLedger }));
describe("secrets in memory keep every promise", () => runKit(it, secretStoreKit, { make: makeMemorySecrets }));
describe("a chat surface in memory keeps every promise", () => runKit(it, chatSurfaceKit, { make: makeMemorySurface }));
describe("the counter of characters keeps every promise", () => runKit(it, tokenCounterKit, { make: makeCharacterCounter }));
describe("the embedder of letters keeps every promise", () => runKit(it, embedderKit, { make: makeLetterEmbedder }));
describe("the image generator of one pixel keeps every promise", () => runKit(it, imageGeneratorKit, { make: makePixelGenerator }));
describe("C29: the stub of scripts keeps every promise of an executor", () =>
  runKit(it, executorKit, { make: async () => scriptedExecutor() }));
describe("the manual clock keeps every promise", () => runKit(it, clockKit, { make: makeManualClock }));
describe("seeded ids keep every promise", () => runKit(it, idSourceKit, { make: makeSeededIds }));

describe("on the platform's time", () => {
  // Only what the clock uses: other code of this process keeps its intervals.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
  afterEach(() => void vi.useRealTimers());
  describe("the system clock keeps every promise", () => runKit(it, clockKit, { make: async () => ({ clock: systemClock, pass }) }));
  describe("random ids keep every promise", () => runKit(it, idSourceKit, { make: async () => ({ ids: randomIds, pass }) }));
});

describe("the console logger keeps every promise", () => {
  let spy: MockInstance | undefined;
  afterEach(() => spy?.mockRestore());
  const make = async () => {
    const lines: string[] = [];
    spy = vi.spyOn(console, "error").mockImplementation((line) => void lines.push(String(line)));
    return { logger: consoleLogger({ level: "debug" }), lines: () => lines };
  };
  runKit(it, loggerKit, { make });
});
