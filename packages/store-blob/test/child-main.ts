/** What the tests run as another process: claims and appends for ever, and prints the seq of each batch that was acknowledged. */
import { blobStore, fileBlobs } from "../src/index.ts";
import { noteBatch, ref } from "./notes.ts";

const [folder = "", leaseMs = "15000"] = process.argv.slice(2);
const { log } = blobStore({ blobs: fileBlobs({ folder, leaseMs: Number(leaseMs) }), compactAfter: 10 });
const say = (line: number): void => void process.stdout.write(`${line}\n`);

try {
  await log.claim(ref, { node: "child", leaseMs: 600_000 });
  for (let { lastSeq } = await log.head(ref); ; ) {
    const outcome = await log.append(ref, noteBatch(`b${lastSeq}`, lastSeq));
    if (outcome.type !== "ok") throw new Error(outcome.type);
    lastSeq = outcome.lastSeq;
    say(lastSeq);
  }
} catch {
  say(-1);
}
