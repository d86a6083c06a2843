import { AgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, SessionStore } from "@loopwright/core/ports";
import { BackgroundWork } from "./background-work.ts";
import { blobSnapshots } from "./blob-snapshots.ts";
import type { ConditionalBlobs } from "./conditional-blobs.ts";
import { KeyQueue } from "./key-queue.ts";
import { blobLog } from "./log/blob-log.ts";
import { blobPayloads } from "./log/blob-payloads.ts";
import { OpenLogs } from "./log/open-logs.ts";
import { storeLimits } from "./store-limits.ts";
import { blobIndex } from "./views/blob-index.ts";
import { localList } from "./views/local-list.ts";
import { ScopePlaces } from "./views/session-places.ts";
import { SessionSummaries } from "./views/session-summaries.ts";
import { SessionTexts } from "./views/session-texts.ts";
import { sharedList } from "./views/shared-list.ts";
import { SummaryWriter } from "./views/summary-writer.ts";

export interface BlobStoreOptions {
  /** Where the objects lie: `fileBlobs` or `s3Blobs`. The store closes it. */
  readonly blobs: ConditionalBlobs;
  /** How long an append keeps trying before it answers `unknown`. Default 2,000 ms. */
  readonly deadlineMs?: number;
  /** After how many batches those of a session are put together into one object. Default 64. */
  readonly compactAfter?: number;
  /**
   * How long `log.due` leaves out a session that a lease was seen to hold, without another look: so long may it take until a session is found that
   * another process has given back. Default 3,000 ms.
   */
  readonly heldLookMs?: number;
  /** How many sessions a search looks at: those changed last. Default 2,000. */
  readonly searchSessionsMax?: number;
  /** How many characters of their texts it looks at, about: where sessions are long, it looks at fewer of them. Default 16,000,000. */
  readonly searchCharactersMax?: number;
  /** Times the summaries. Leases go by the clock of `blobs`. Default: the process's. */
  readonly clock?: Clock;
}

const exclusiveInUse = new WeakSet<ConditionalBlobs>();

/**
 * A store of sessions over objects that are written under a condition: one object per batch, epochs and leases beside it, index, blobs, drafts.
 * Nothing is asked for before the first use. Where many may write (S3), any number of processes may use it at once; `subscribe` is absent there.
 * @throws AgentError CONFIG_INVALID when blobs for one writer have a store already
 */
export function blobStore(options: BlobStoreOptions): SessionStore {
  const { blobs, clock = systemClock, deadlineMs = 2_000, compactAfter = 64 } = options;
  const { searchSessionsMax = storeLimits.searchSessionsMax, searchCharactersMax = storeLimits.searchCharactersMax } = options;
  if (blobs.exclusive) {
    if (exclusiveInUse.has(blobs))
      throw new AgentError("CONFIG_INVALID", { message: "These blobs have one writer, and a store already.", fix: "Share the one store." });
    exclusiveInUse.add(blobs);
  }
  const logs = new OpenLogs({ blobs, clock, deadlineMs });
  const background = new BackgroundWork();
  const payloads = blobPayloads(logs);
  const places = blobs.exclusive && new ScopePlaces();
  const summaries = new SessionSummaries(logs, { places });
  // More than one search looks at: else what it looks at would displace itself.
  const texts = new SessionTexts(2 * searchCharactersMax);
  const rests = new SummaryWriter({ logs, summaries, background });
  let closing: Promise<void> | undefined;
  const log = blobLog({
    logs,
    background,
    compactAfter,
    heldLookMs: options.heldLookMs ?? storeLimits.heldLookMs,
    compactions: new KeyQueue(),
    observer: {
      writing: (one, lastSeq) => summaries.mark(one, lastSeq),
      written: (one, facts) => rests.written(one, facts),
      async removed(one) {
        rests.forget(one);
        texts.forget(one);
        await summaries.remove(one);
      },
    },
  });
  return {
    log,
    index: blobIndex({
      logs,
      summaries,
      newest: (scope, page) =>
        places ? localList({ blobs, summaries, places }, scope, page) : sharedList({ blobs, summaries }, scope, page),
      texts,
      searchSessionsMax,
      searchCharactersMax,
      remake(ref) {
        const one = logs.of(ref);
        texts.forget(one);
        return one.hold(() => summaries.remake(one));
      },
    }),
    blobs: payloads,
    snapshots: blobSnapshots(logs),
    close() {
      closing ??= (async () => {
        rests.hurry();
        await background.settle();
        exclusiveInUse.delete(blobs);
        await blobs.close();
      })();
      return closing;
    },
  };
}
