import { closeSync, openSync } from "node:fs";
import { daemonPlace } from "../src/daemon/daemon-state.ts";
import { startDaemon } from "../src/daemon/start-daemon.ts";

/* Starts a process in the background with 0, 1, 2, ... free file descriptors, and prints as JSON how each start ended. */

const most = Number(process.argv[2]);
const taken: number[] = [];
const take = (): void => {
  for (;;)
    try {
      taken.push(openSync("/dev/null", "r"));
    } catch {
      return;
    }
};
const written: object[] = [];
for (let free = 0; free <= most; free++) {
  take();
  for (const descriptor of taken.splice(0, free)) closeSync(descriptor);
  const ended: unknown = await startDaemon(daemonPlace("."), async () => ({ flags: {} })).catch((error: unknown) => error);
  const { name, code, message } = ended as { readonly name?: string; readonly code?: string | number; readonly message?: string };
  written.push({ free, name: name ?? "none", code, message });
  // What started ends with an exit code: this module is no command line.
  if (name === undefined) break;
}
for (const descriptor of taken) closeSync(descriptor);
process.stdout.write(JSON.stringify(written));
