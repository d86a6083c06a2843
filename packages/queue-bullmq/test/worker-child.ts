/** A process that takes hints and prints which, one per line; it never releases one. Arguments: URL, prefix, lockMs. */
import { bullQueue } from "../src/index.ts";

const [url = "", prefix = "", lockMs = ""] = process.argv.slice(2);
const queue = bullQueue({ url, prefix, lockMs: Number(lockMs) });
queue.work(
  ({ scope, session }) => {
    process.stdout.write(`${scope}/${session}\n`);
    return new Promise(() => {});
  },
  { concurrency: 4 },
);
